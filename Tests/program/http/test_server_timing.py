"""The header Server-Timing (W3C Server Timing): only with the option, and on what is no stored tile."""

import re
import unittest

from harness import Server, folder, photo, run

PART = r"(queue|render|fetch|total);dur=\d+\.\d"


class ServerTiming(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        run("build", photo(folder("photos") / "a.jpg", 900, 700), "--library", cls.library, "--quiet")

    def times(self, server, path: str) -> list[str] | None:
        answer = server.get(path)
        self.assertEqual(answer.status, 200, path)
        header = answer["server-timing"]
        if not header:
            return None
        self.assertRegex(header, rf"^{PART}(, {PART})*$")
        return re.findall(r"(\w+);", header)

    def test_rendered_images_have_their_times_and_stored_tiles_have_none(self):
        with Server(self.library, "--server-timing") as server:
            self.assertEqual(self.times(server, "/iiif/3/a/10,20,300,200/97,/0/default.png"), ["queue", "render", "total"])
            self.assertEqual(self.times(server, "/iiif/3/a/info.json"), ["total"])
            self.assertEqual(self.times(server, "/api/images"), ["total"])
            self.assertIsNone(self.times(server, "/dzi/a_files/0/0_0.jpg"))

    def test_without_the_option_there_is_no_header(self):
        with Server(self.library) as server:
            self.assertIsNone(self.times(server, "/iiif/3/a/10,20,300,200/98,/0/default.png"))
            self.assertIsNone(self.times(server, "/api/images"))
