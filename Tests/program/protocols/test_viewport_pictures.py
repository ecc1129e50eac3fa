"""Viewports as pictures, at scales far from those of any screen."""

from harness import Server, ServerTest, folder, photo, run


class Vanishing(ServerTest):
    """Pictures of an image that is much smaller than a pixel: the background, not an error."""

    SIZES = [(300, 200), (400, 300), (90, 40), (256, 256), (1, 1), (1025, 700)]

    @classmethod
    def setUpClass(cls):
        base = folder("vanishing")
        for width, height in cls.SIZES:
            photo(base / f"photos/{width}x{height}.jpg", width, height)
        built = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.server = Server(base / "library")

    def test_every_scale_is_answered(self):
        for width, height in self.SIZES:
            for power in range(-12, -2):
                for window in ("width=1&height=1", "width=9&height=7", "width=1&height=7&rotation=30"):
                    path = f"/api/images/{width}x{height}/viewport.png?{window}&scale=1e{power}"
                    with self.subTest(path):
                        answer = self.server.get(path)
                        self.assertEqual((answer.status, answer["content-type"]), (200, "image/png"))

    def test_the_largest_scale_of_any_screen_is_answered(self):
        for ratio in (1, 2, 6.466263477302742, 8):
            for turn in ("rotation=0", "rotation=162.17&flip=true"):
                path = f"/api/images/300x200/viewport.png?width=9&height=7&scale=1e6&center=100.3,60.7&dpr={ratio}&{turn}"
                with self.subTest(path):
                    self.assertEqual(self.server.get(path).status, 200)


class Large(ServerTest):
    """Large windows, whose encoders need much memory: most is transparent around a turned image."""

    @classmethod
    def setUpClass(cls):
        base = folder("large")
        photo(base / "photos/small.jpg", 700, 500)
        built = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.server = Server(base / "library")

    def test_they_are_encoded(self):
        for window in ("width=7508&height=4000", "width=6500&height=6500&rotation=20"):
            path = f"/api/images/small/viewport.webp?{window}"
            with self.subTest(path):
                answer = self.server.get(path)
                self.assertEqual((answer.status, answer["content-type"]), (200, "image/webp"))
