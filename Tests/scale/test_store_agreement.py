"""A library in a real object store, read through every protocol: not one byte, tag or status differs from the folder's."""

import collections
import itertools
import json
import os
import re
import shutil
import sys
import threading
import unittest
import uuid
from pathlib import Path
from urllib.parse import quote

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("program", "bench")]

from harness import Server, folder, photo, run, seed  # noqa: E402
from pdf import labelled_pdf  # noqa: E402
from tile_paths import SCHEMES, Tile  # noqa: E402

BUCKET, LOG = os.environ.get("ZIGGURAT_TEST_BUCKET"), os.environ.get("ZIGGURAT_TEST_STORE_LOG")
IMAGES, REGIONS = 50, 500
# Answers that name the server.
PORT = re.compile(rb"127\.0\.0\.1:\d+")


def questions(key: str) -> int:
    """GETs of objects whose keys have this in them, by the store's own log."""
    return len(re.findall(rf'"GET /{BUCKET}/[^" ]*{key}[^" ]* HTTP', Path(LOG).read_text(errors="replace")))


@unittest.skipUnless(BUCKET and LOG, "no store is named: make test-scale starts one")
class StoreAgreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = folder("store")
        sources, cls.near_library = base / "sources", base / "library"
        for number in range(IMAGES - 6):
            photo(sources / f"{'abc'[number % 3]}/p{number}.{('jpg', 'png', 'tif')[number % 3]}", 200 + 61 * (number % 23), 150 + 47 * (number % 29))
        photo(sources / "wide.jpg", 3000, 2000)
        (sources / "five pages – é.pdf").write_bytes(labelled_pdf(5))
        # Another one each time: the store is everybody's.
        cls.bucket = f"s3://{BUCKET}/{uuid.uuid4()}"
        for library in (cls.bucket, cls.near_library):
            built = run("build", sources, "--library", library, "--tile-size", "256", "--quiet", timeout=300)
            assert built.returncode == 0, built.stderr
        cls.far, cls.near = Server(cls.bucket), Server(cls.near_library)
        cls.addClassCleanup(cls.far.stop)
        cls.addClassCleanup(cls.near.stop)
        cls.addClassCleanup(shutil.rmtree, base, ignore_errors=True)
        cls.images = [json.loads(cls.near.get(f"/api/images/{quote(id, safe='')}").body) for id in cls.ids(cls.near_library)]

    @staticmethod
    def ids(library: Path) -> list[str]:
        return sorted(str(path.relative_to(library).with_suffix("")) for path in library.rglob("*.szi"))

    def same(self, target: str) -> int:
        ours, theirs = self.far.get(target), self.near.get(target)
        self.assertEqual((ours.status, ours["etag"], PORT.sub(b"", ours.body)), (theirs.status, theirs["etag"], PORT.sub(b"", theirs.body)), target)
        return ours.status

    def test_every_tile_through_every_protocol(self):
        self.assertEqual(len(self.images), IMAGES)
        found = collections.Counter()
        for image in self.images:
            id, size = quote(image["id"], safe=""), (image["width"], image["height"])
            for level, each in enumerate(image["levels"]):
                for row, column in itertools.product(range(each["rows"]), range(each["columns"])):
                    tile = Tile(id, *size, 256, level, column, row, image["format"])
                    targets = {name: getattr(tile, scheme) for name, scheme in SCHEMES.items()}
                    targets["Zoomify"] = f"/zoomify/{id}/TileGroup0/{level}-{column}-{row}.{tile.extension}"
                    targets["IIP"] = f"/iip?FIF={id}&JTL={level},{row * each['columns'] + column}"
                    for name, target in targets.items():
                        found[name] += target is not None and self.same(target) == 200
        self.assertEqual((len(found), min(found.values()) > 50), (6, True), found)
        print(dict(found), end=" ", flush=True)

    def test_regions(self):
        random = seed("regions from a store")
        for _ in range(REGIONS):
            image = random.choice(self.images)
            x, y = random.randrange(image["width"]), random.randrange(image["height"])
            width, height = random.randint(1, image["width"] - x), random.randint(1, image["height"] - y)
            size = random.choice(("max", f"{random.randint(1, width)},", f"!{random.randint(1, 400)},{random.randint(1, 400)}"))
            self.same(f"/iiif/3/{quote(image['id'], safe='')}/{x},{y},{width},{height}/{size}/{random.choice((0, 90, 180, 270))}/"
                      f"default.{random.choice(('jpg', 'png', 'webp'))}")

    def test_what_it_asks_the_store(self):
        with Server(self.bucket) as cold:
            before = questions("szi/")
            tile = cold.get("/dzi/wide_files/0/0_0.jpg")
            self.assertEqual((tile.status, questions("szi/") - before), (200, 1), "a cold archive and its coarsest tile")
            before = questions("szi/")
            self.assertEqual(cold.get("/dzi/wide_files/12/5_5.jpg", **{"If-None-Match": self.near.get("/dzi/wide_files/12/5_5.jpg")["etag"]}).status, 304)
            self.assertEqual(questions("szi/") - before, 0, "a tile that the client has")
            answers = []
            for _ in range(10):
                threads = [threading.Thread(target=lambda: answers.append(cold.get("/dzi/wide_files/12/3_3.jpg"))) for _ in range(100)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            self.assertEqual((len(answers), {answer.status for answer in answers}), (1000, {200}))
            self.assertEqual(questions("szi/") - before, 1, "a thousand who want one tile")
        with Server(self.bucket) as cold:
            before = questions("szi/")
            bundle = cold.get("/api/images/wide/viewport.tiles?width=1280&height=800&scale=1&x=500&y=400")
            self.assertEqual(bundle.status, 200, bundle)
            self.assertLessEqual(questions("szi/") - before, 6, "what a cold viewport shows")


if __name__ == "__main__":
    unittest.main()
