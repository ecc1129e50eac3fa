"""What a picture's page says of it to those who preview links (Open Graph)."""

import re
import subprocess
import unittest
from html import unescape

from harness import Server, ServerTest, folder, photo, run


class LinkCards(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("p")
        (base / "deep").mkdir()
        source = photo(base / "deep/harbour.jpg", 3000, 2000)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=\"Low\" <tide>", "-XMP-dc:Description=Grey & calm",
                        source], check=True)
        library = folder("library")
        run("build", base, "--library", library)
        cls.server = Server(library, "--site-name", "Fish & Chips")

    def facts(self, answer):
        page = answer.body.decode()
        return {name: unescape(value) for name, value in re.findall(r'<meta property="og:([^"]+)" content="([^"]*)">', page)}

    def test_an_image_has_its_name_its_metadata_and_an_existing_picture(self):
        answer = self.server.get("/view/deep%2Fharbour")
        facts = self.facts(answer)
        self.assertEqual((facts["title"], facts["description"], facts["site_name"]), ('"Low" <tide>', "Grey & calm", "Fish & Chips"))
        self.assertRegex(facts["url"], r"^http://[^/]+/view/deep%2Fharbour$")
        path = re.sub(r"^http://[^/]+", "", facts["image"])
        picture = self.server.get(path)
        self.assertEqual((picture.status, picture["content-type"]), (200, "image/jpeg"))
        self.assertLessEqual(max(int(facts["image:width"]), int(facts["image:height"])), 1200)
        self.assertNotIn("<tide>", answer.body.decode())

    def test_the_gallery_and_what_is_not_there_have_none(self):
        for path in ("/", "/view/nothing"):
            self.assertEqual(self.facts(self.server.get(path)), {})

    def test_it_is_another_answer_than_another_pictures(self):
        one, none = self.server.get("/view/deep%2Fharbour"), self.server.get("/view/nothing")
        self.assertNotEqual(one["etag"], none["etag"])


if __name__ == "__main__":
    unittest.main()
