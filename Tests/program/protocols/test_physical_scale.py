"""How large a pixel is in the world, wherever a viewer's ruler looks for it: IIIF's service of physical dimensions."""

import json
import subprocess
import unittest
import zipfile

from iiif_prezi3 import Manifest

from harness import Server, ServerTest, folder, run

SERVICE = {"@context": "http://iiif.io/api/annex/services/physdim/1/context.json",
           "profile": "http://iiif.io/api/annex/services/physdim", "physicalUnits": "mm"}


class PhysicalScale(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("scale")
        (base / "slides").mkdir()
        for name, saving in [("known", "xres=4000,yres=4000,resunit=cm"), ("oblong", "xres=4000,yres=2000,resunit=cm"),
                             ("paper", "xres=11.811,yres=11.811"), ("odd", "xres=3333,yres=3333,resunit=cm")]:
            subprocess.run(["vips", "black", base / f"slides/{name}.tif[{saving}]", "700", "600", "--bands", "3"], check=True)
        result = run("build", base / "slides", "--library", base / "library", "--quiet")
        assert result.returncode == 0, result.stderr
        cls.base = base
        cls.server = Server(base / "library")

    def read(self, path: str) -> dict:
        return json.loads(self.server.get(path).body)

    def services(self, name: str) -> list:
        """Of the canvas, and of the image in version 3 and 2."""
        manifest = self.read(f"/iiif/presentation/3/{name}/manifest")
        Manifest(**manifest)
        two = self.read(f"/iiif/2/{name}/info.json").get("service")
        return [manifest["items"][0].get("service"), self.read(f"/iiif/3/{name}/info.json").get("service"), two and [two]]

    def test_a_known_scale_is_the_same_in_all_protocols(self):
        for name, microns in [("known", 0.25), ("odd", 0.30003)]:
            self.assertAlmostEqual(self.read(f"/api/images/{name}")["micronsPerPixel"], microns, places=6)
            for services in self.services(name):
                [service] = services
                self.assertEqual({key: service[key] for key in SERVICE}, SERVICE)
                self.assertEqual(service["physicalScale"], float(f"{self.read(f'/api/images/{name}')['micronsPerPixel']}e-3"))
        for services in self.services("known")[:2]:
            # What version 3 wants of every service.
            self.assertEqual(services[0]["type"], "PhysicalDimensions")
            self.assertTrue(services[0]["id"].startswith("http://127.0.0.1/iiif/"))

    def test_an_unknown_scale_is_in_no_protocol(self):
        for name in ("oblong", "paper"):
            self.assertEqual(self.services(name), [None, None, None])

    def test_an_export_has_it_too(self):
        for name, scale in [("known", 0.00025), ("paper", None)]:
            to = self.base / f"exported-{name}"
            self.assertEqual(run("export", self.base / f"library/{name}.szi", "--layout", "iiif3", "--output", to).returncode, 0)
            reported = json.loads((to / "info.json").read_text()).get("service")
            self.assertEqual(reported and reported[0]["physicalScale"], scale)

    def test_archives_of_others_have_it_in_their_scan_properties(self):
        place = self.base / "foreign"
        place.mkdir()
        text = """<?xml version="1.0"?><!-- a scanner's --><szi:image xmlns:szi="http://www.pathozoom.com/szi" version="1.0"><szi:properties>
            <szi:property><szi:name>ScannerModel</szi:name><szi:value type="gchararray">X &amp; Y</szi:value></szi:property>{}
            </szi:properties></szi:image>"""
        one = "<szi:property><szi:name>MicronsPerPixel{}</szi:name><szi:value type=\"gdouble\"> {} </szi:value></szi:property>"
        cases = {"both": (text.format(one.format("X", "0.5") + one.format("Y", "0.501")), 0.5), "one": (text.format(one.format("", "0.25")), 0.25),
                 "none": (text.format(""), None), "oblong": (text.format(one.format("X", "0.5") + one.format("Y", "1")), None),
                 "words": (text.format(one.format("", "0.5 or so")), None), "less": (text.format(one.format("", "-1")), None),
                 "broken": (text.format(one.format("", "0.5"))[:-9], None), "type": ("<!DOCTYPE a>" + text.format(one.format("", "0.5")), None)}
        for name, (properties, _) in cases.items():
            with zipfile.ZipFile(self.base / "library/known.szi") as ours, zipfile.ZipFile(place / f"{name}.szi", "w") as theirs:
                for entry in ours.namelist():
                    if entry.endswith("build.json"):
                        continue
                    content = properties.encode() if entry.endswith("scan-properties.xml") else ours.read(entry)
                    theirs.writestr(entry.replace("known", name), content)
        with Server(place) as server:
            for name, (_, microns) in cases.items():
                answer = server.get(f"/api/images/{name}")
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual(json.loads(answer.body).get("micronsPerPixel"), microns, name)
        self.assertEqual(json.loads(run("inspect", place / "both.szi", "--json").stdout)["micronsPerPixel"], [0.5, 0.501])


if __name__ == "__main__":
    unittest.main()
