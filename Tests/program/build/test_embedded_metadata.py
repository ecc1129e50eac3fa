"""Metadata that change in a picture itself tile nothing again, if it is certain that nothing else has changed."""

import json
import unittest
import zipfile

import tifffile
from exiftool import write
from harness import CommandTest, folder, photo, run, seed
from test_source_sidecars import parts

# All that people's programs write, with as many segments, chunks and tags as ExifTool makes of it.
EVERY = ["-XMP-dc:Title={}", "-XMP-dc:Description={}", "-XMP-dc:Creator={}", "-EXIF:ImageDescription={}", "-EXIF:Artist={}",
         "-EXIF:Copyright={}", "-EXIF:XPTitle={}", "-EXIF:UserComment={}", "-EXIF:DateTimeOriginal=2001:02:03 04:05:06",
         "-GPSLatitude=5", "-GPSLatitudeRef=N"]
IPTC = ["-IPTC:ObjectName={}", "-IPTC:Caption-Abstract={}", "-IPTC:Keywords={}"]
ENDINGS = ("jpg", "png", "tif")


class Embedded(CommandTest):
    def setUp(self):
        self.base = folder("embedded words")
        self.library = self.base / "library"

    def build(self, *options, library=None) -> dict:
        result = run("build", self.base / "photos", "--library", library or self.library, "--json", "--quiet", *options, timeout=300)
        return {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}

    def say(self, path, options, text):
        write(path, *(option.replace("{}", text) for option in options))

    def test_only_metadata_are_rewritten(self):
        for ending in ENDINGS:
            source = photo(self.base / f"photos/{ending}.{ending}", 700, 500)
            # The first metadata add directories that contain more than metadata.
            self.say(source, EVERY, "one")
        self.assertEqual(set(self.build().values()), {"built"})
        before = {ending: parts(self.library / f"{ending}.szi") for ending in ENDINGS}
        for text, options in (("two", EVERY), ("a much longer text, " * 50, EVERY), ("three", EVERY[:3])):
            for ending in ENDINGS:
                self.say(self.base / f"photos/{ending}.{ending}", options, text)
            self.assertEqual(self.build("--dry-run"), dict.fromkeys(ENDINGS, "would update metadata"))
            self.assertEqual(self.build(), dict.fromkeys(ENDINGS, "metadata-updated"))
            self.assertEqual(self.build(), dict.fromkeys(ENDINGS, "unchanged"))
            for ending in ENDINGS:
                archive = self.library / f"{ending}.szi"
                self.assertWhole(archive)
                metadata, tiles = parts(archive)
                self.assertEqual((metadata["title"], metadata["creator"]), (text.strip(), text.strip()))
                self.assertEqual(tiles, before[ending][1])
        fresh = self.base / "fresh"
        self.build(library=fresh)
        for ending in ENDINGS:
            self.assertEqual((fresh / f"{ending}.szi").read_bytes(), (self.library / f"{ending}.szi").read_bytes(), ending)

    def test_iptc_too(self):
        for ending in ("jpg", "tif"):
            self.say(photo(self.base / f"photos/{ending}.{ending}", 300, 200), IPTC, "one")
        self.build()
        for ending in ("jpg", "tif"):
            self.say(self.base / f"photos/{ending}.{ending}", IPTC, "two")
        self.assertEqual(self.build(), {"jpg": "metadata-updated", "tif": "metadata-updated"})
        self.assertEqual(parts(self.library / "jpg.szi")[0]["title"], "two")

    def test_a_sidecar_still_stands_before_them(self):
        source = photo(self.base / "photos/a.jpg", 300, 200)
        self.say(source, EVERY, "one")
        write(self.base / "photos/a.xmp", "-XMP-dc:Title=beside")
        self.build()
        self.say(source, EVERY, "two")
        self.assertEqual(self.build(), {"a": "metadata-updated"})
        metadata = parts(self.library / "a.szi")[0]
        self.assertEqual((metadata["title"], metadata["creator"]), ("beside", "two"))
        (self.base / "photos/a.xmp").unlink()
        self.assertEqual(self.build(), {"a": "metadata-updated"})
        self.assertEqual(parts(self.library / "a.szi")[0]["title"], "two")

    def test_more_than_metadata_is_tiled(self):
        changes = {"turned": ["-EXIF:Orientation#=6"], "scale": ["-EXIF:XResolution=1200"], "space": ["-EXIF:ColorSpace#=2"],
                   "profile": ["-ICC_Profile:all="]}
        for ending in ENDINGS:
            for name in changes:
                source = photo(self.base / f"photos/{ending} {name}.{ending}", 60, 40)
                self.say(source, EVERY, "one")
                write(source, "-EXIF:XResolution=300", "-EXIF:Orientation#=1", "-ICC_Profile<=/usr/share/color/icc/colord/AdobeRGB1998.icc")
        ids = set(self.build())
        for ending in ENDINGS:
            for name, options in changes.items():
                write(self.base / f"photos/{ending} {name}.{ending}", "-XMP-dc:Title=two", *options)
        self.assertEqual(self.build(), dict.fromkeys(ids, "built"))
        # A program's description may contain a scale.
        source = photo(self.base / "photos/jpg turned.jpg", 60, 40)
        for text, status in (("Aperio Image|MPP = 0.5|AppMag = 20", "built"), ("Aperio Image|MPP = 0.25|AppMag = 20", "built"),
                             ("People's words", "built"), ("People's other words", "metadata-updated")):
            write(source, f"-EXIF:ImageDescription={text}")
            self.assertEqual(self.build()["jpg turned"], status, text)

    def test_a_value_behind_the_end_is_damage_though_the_pixels_are_the_same(self):
        source = photo(self.base / "photos/a.tif", 90, 60)
        self.say(source, EVERY, "one")
        whole = source.read_bytes()
        self.assertEqual(self.build(), {"a": "built"})
        tag = next(tag for tag in tifffile.TiffFile(source).pages[0].tags.values() if tag.name == "XMP")
        damaged = bytearray(whole)
        damaged[tag.offset + 8:tag.offset + 12] = (len(whole) + 1000).to_bytes(4, "little")
        for data, damage in ((bytes(damaged), "truncated"), (whole, None)):
            source.write_bytes(data)
            self.assertEqual(self.build(), {"a": "built"})
            with zipfile.ZipFile(self.library / "a.szi") as szi:
                record = json.loads(szi.read("a/vendor/ziggurat/build.json"))
            self.assertEqual(record.get("damage", {}).get("kind"), damage)

    def test_after_a_change_of_any_byte_the_archive_equals_a_new_build(self):
        chosen = seed("embedded words")
        count = 60
        for ending in ENDINGS:
            source = photo(self.base / f"one.{ending}", 90, 60)
            self.say(source, EVERY, "one")
            for number in range(count):
                target = self.base / f"photos/{ending}{number}.{ending}"
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(source.read_bytes())
        self.assertEqual(set(self.build().values()), {"built"})
        for path in (self.base / "photos").iterdir():
            bytes = bytearray(path.read_bytes())
            # Metadata are at either end, and most of a file is pixels.
            at = chosen.randrange(min(len(bytes), 3000)) if chosen.random() < 0.5 else len(bytes) - 1 - chosen.randrange(min(len(bytes), 3000))
            bytes[at] ^= 1 << chosen.randrange(8)
            path.write_bytes(bytes)
        report, fresh = self.build(), self.base / "fresh"
        self.build(library=fresh)
        reworded = [id for id, status in report.items() if status == "metadata-updated"]
        self.assertGreater(len(reworded), count // 4)
        for id in reworded:
            self.assertEqual((self.library / f"{id}.szi").read_bytes(), (fresh / f"{id}.szi").read_bytes(), id)


if __name__ == "__main__":
    unittest.main()
