"""What the canvas shows is what the source holds.

The reference is made here from the source alone: halved by 2×2 means down to the level that the scale
asks for, as the pyramid is, then sampled bilinearly at the middle of every device pixel.

Tolerance, of 255: a mean difference of 1 and 99.9% of all values within 8. The tiles are lossless, so
what is left is rounding: the browser's sampler has weights in sixteenths, and at the sharpest edge a
weight that is off by half of that makes 255 / 32, which is 8.

Where one level pixel is one device pixel the viewer shows whole pixels untouched, at most half a device
pixel from where they would fall; so does the reference.
"""

import functools
import io
import math
import unittest

import numpy
from PIL import Image

from browser import HEIGHT, WIDTH, PHOTO, PageTest, source

MEAN, FAR, FAR_SHARE = 1.0, 8, 0.999


@functools.cache
def level(halvings):
    """The source, halved; values as the pyramid stores them, whole numbers."""
    if halvings == 0:
        return numpy.asarray(Image.open(source(PHOTO)).convert("RGB"), dtype=numpy.float32)
    above = level(halvings - 1)
    padded = numpy.pad(above, ((0, above.shape[0] % 2), (0, above.shape[1] % 2), (0, 0)), mode="edge")
    means = (padded[0::2, 0::2] + padded[1::2, 0::2] + padded[0::2, 1::2] + padded[1::2, 1::2]) / 4
    return numpy.floor(means + 0.5)


def expected(view, ratio, degrees=0, halvings=None):
    """What the window should show, and which of its device pixels are safely inside the image.

    - halvings: of another level than the scale asks for
    """
    scale = view["scale"] * ratio
    if halvings is None:
        halvings = 0
        while 2.0 ** -(halvings + 1) >= scale:
            halvings += 1
    pixels = level(halvings)
    width, height = round(view["width"] * ratio), round(view["height"] * ratio)
    xs, ys = numpy.meshgrid(numpy.arange(width) + 0.5, numpy.arange(height) + 0.5)
    dx, dy = xs - view["width"] * ratio / 2, ys - view["height"] * ratio / 2
    angle = math.radians(degrees)
    flat_x = dx * math.cos(angle) + dy * math.sin(angle) + view["width"] * ratio / 2
    flat_y = dy * math.cos(angle) - dx * math.sin(angle) + view["height"] * ratio / 2
    left, top = view["x"] * ratio, view["y"] * ratio
    if abs(scale * 2 ** halvings - 1) < 1e-6:
        left, top = -math.floor(0.5 - left), -math.floor(0.5 - top)
    x, y = (flat_x + left) / scale, (flat_y + top) / scale
    # Two device pixels from the image's edge the edge itself plays no part.
    inside = (x > 2 / scale) & (x < WIDTH - 2 / scale) & (y > 2 / scale) & (y < HEIGHT - 2 / scale)
    u, v = x / 2 ** halvings - 0.5, y / 2 ** halvings - 0.5
    u, v = numpy.clip(u, 0, pixels.shape[1] - 1.001), numpy.clip(v, 0, pixels.shape[0] - 1.001)
    column, row = u.astype(int), v.astype(int)
    a, b = (u - column)[..., None], (v - row)[..., None]
    top = pixels[row, column] * (1 - a) + pixels[row, column + 1] * a
    bottom = pixels[row + 1, column] * (1 - a) + pixels[row + 1, column + 1] * a
    return top * (1 - b) + bottom * b, inside


class Pixels(PageTest):
    def shot(self, visit):
        return numpy.asarray(Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB"), dtype=numpy.float32)

    def assertTrue_to_source(self, visit, degrees=0):
        visit.sharp()
        visit.hide_ui()
        shot = self.shot(visit)
        wanted, inside = expected(visit.view(), visit.ratio, degrees)
        self.assertEqual(shot.shape, wanted.shape)
        self.assertGreater(inside.mean(), 0.2, "the image is hardly in view")
        difference = numpy.abs(shot - wanted)[inside]
        mean, share = difference.mean(), (difference <= FAR).mean()
        self.assertLess(mean, MEAN, f"mean difference {mean:.2f}")
        self.assertGreaterEqual(share, FAR_SHARE, f"only {share:.5f} within {FAR}")

    def test_fit_shows_the_whole_source(self):
        for width, height, ratio in ((1280, 800, 1), (1000, 700, 1.5), (390, 844, 3)):
            with self.subTest(window=(width, height, ratio)):
                self.assertTrue_to_source(self.visit(width=width, height=height, ratio=ratio).photo())

    def test_a_view_equals_the_crop_of_the_source_at_ten_scales(self):
        visit = self.visit().photo()
        for scale in (0.26, 0.3137, 0.4999, 0.5, 0.61, 0.777, 0.93, 1, 1.37, 2.71):
            with self.subTest(scale=scale):
                x, y = 2345.67 * scale - 640, 1234.56 * scale - 400
                self.assertTrue_to_source(visit.look(f"scale={scale}&x={x}&y={y}"))

    def test_full_resolution_is_shown_untouched(self):
        visit = self.visit(ratio=2)
        visit.photo(view="scale=0.5&x=700&y=400")
        self.assertTrue_to_source(visit)

    def test_enlarged_the_image_is_solid_up_to_its_last_edge(self):
        for x, y in ((1e6, 1e6), (0, 0)):
            with self.subTest(x=x, y=y):
                visit = self.visit().photo("AltaiTall", f"scale=6&x={x}&y={y}")
                visit.hide_ui()
                shot = self.shot(visit)
                # The outer half of a pixel, three device pixels here, has the colour of its middle.
                edges = (shot[:, -1] - shot[:, -3], shot[-1] - shot[-3]) if x else (shot[:, 0] - shot[:, 2], shot[0] - shot[2])
                for difference in edges:
                    self.assertLessEqual(numpy.abs(difference).max(), FAR)

    def test_a_turned_view_equals_the_crop_of_the_source_at_three_angles(self):
        visit = self.visit().photo()
        for degrees in (90, 33, 211.5):
            for scale in (0.3137, 0.61, 1.37):
                with self.subTest(degrees=degrees, scale=scale):
                    x, y = 2345.67 * scale - 640, 1234.56 * scale - 400
                    visit.look(f"scale={scale}&x={x}&y={y}&rotation={degrees}")
                    self.assertTrue_to_source(visit, degrees)

    def test_a_mirrored_view_is_the_mirrored_view(self):
        visit = self.visit().photo(view="scale=0.61&x=700&y=400")
        visit.hide_ui()
        plain = self.shot(visit)
        visit.look("scale=0.61&x=700&y=400&flip=true")
        visit.hide_ui()
        difference = numpy.abs(self.shot(visit) - plain[:, ::-1])
        self.assertLess(difference.mean(), MEAN)
        self.assertGreaterEqual((difference <= FAR).mean(), FAR_SHARE)

    def test_no_seam_shows_between_tiles_at_any_scale_or_angle(self):
        """An image of one colour: a seam would be another colour, however faint. One level may be lost to rounding."""
        colour = (173, 99, 41)
        tile = io.BytesIO()
        Image.new("RGB", (512, 512), colour).save(tile, "PNG")
        visit = self.visit(tile_by_tile=True)
        visit.page.route("**/*_files/**", lambda route: route.fulfill(body=tile.getvalue(), content_type="image/png"))
        visit.photo()
        for scale in (0.27, 0.3333, 0.43, 0.5001, 0.71, 0.999, 1.31, 2.77):
            for degrees in (0, 7, 45):
                with self.subTest(scale=scale, degrees=degrees):
                    visit.look(f"scale={scale}&x={2560 * scale - 640}&y={1440 * scale - 400}&rotation={degrees}")
                    visit.hide_ui()
                    # The image's own edges are outside of this part for every scale and angle above.
                    middle = self.shot(visit)[250:550, 440:840]
                    self.assertLessEqual(numpy.abs(middle - numpy.array(colour)).max(), 1)

    def test_a_canvas_of_many_pieces_shows_no_seam_between_them(self):
        visit = self.visit(width=1300, height=900, ratio=2).photo(view="scale=0.37&x=200&y=60&rotation=12")
        self.assertTrue_to_source(visit, 12)

    def test_coarse_tiles_stay_until_the_finer_ones_are_there(self):
        visit = self.visit().photo()
        held, hold = [], [True]
        visit.page.route("**/*_files/13/*", lambda route: held.append(route) if hold else route.continue_())
        visit.run("viewer.zoomTo(1, { x: 640, y: 400 })")
        visit.page.wait_for_timeout(600)
        visit.hide_ui()
        coarse = self.shot(visit)
        wanted, inside = expected(visit.view(), 1)
        self.assertTrue(inside.all())
        # Blurred, but the picture: nowhere the ground, nowhere far from what will be there.
        self.assertLess(numpy.abs(coarse - wanted).mean(), 14)
        hold.clear()
        for route in held:
            route.continue_()
        self.assertTrue_to_source(visit)


    def test_fine_tiles_stay_until_the_coarser_ones_are_there(self):
        visit = self.visit().photo(view="scale=1&x=1500&y=900")
        visit.sharp()
        held, hold = [], [True]
        visit.page.route("**/*_files/12/*", lambda route: held.append(route) if hold else route.continue_())
        visit.run("viewer.viewport = { scale: 0.45, x: 500, y: 250 }")
        visit.until("return viewer.requestCounts.requested > viewer.requestCounts.loaded")
        visit.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        visit.hide_ui()
        fine = self.shot(visit)
        view = visit.view()
        wanted, inside = expected(view, 1, halvings=0)
        # What was seen before, of which the fine tiles are there; its edges apart.
        left, top = (round(at * 0.45 - view[axis]) + 4 for at, axis in ((1500, "x"), (900, "y")))
        seen = (slice(top, top + round(800 * 0.45) - 8), slice(left, left + round(1280 * 0.45) - 8))
        self.assertTrue(inside[seen].all())
        self.assertLess(numpy.abs(fine - wanted)[seen].mean(), MEAN)
        hold.clear()
        for route in held:
            route.continue_()
        self.assertTrue_to_source(visit)

    def test_what_is_kept_from_frame_to_frame_is_what_the_source_holds(self):
        """Small steps and large ones, over levels, turns and edges of the image; what is laid moves along."""
        visit = self.visit().photo()
        for steps, scale, by, degrees in ((30, 1, (37, 11), 0), (12, 0.97, (-63, 140), 0), (25, 0.9, (90, 90), 0), (8, 1.1, (-200, -90), 0),
                                          (10, 1.07, (10, -30), 7), (20, 0.94, (-40, 20), 3)):
            with self.subTest(steps=steps, scale=scale, by=by, degrees=degrees):
                visit.run(f"""return new Promise((done) => {{
                  let steps = {steps}
                  if (viewer.viewport.scale < 0.4) viewer.viewport = {{ scale: 0.8, x: 900, y: 500 }}
                  const step = () => {{
                    if (steps-- === 0) return done()
                    const {{ scale, x, y }} = viewer.viewport
                    viewer.viewport = {{ scale: scale * {scale}, x: x * {scale} + {by[0]}, y: y * {scale} + {by[1]} }}
                    if ({degrees}) viewer.rotate({degrees})
                    requestAnimationFrame(step)
                  }}
                  step()
                }})""")
                degrees_now = visit.run("return viewer.viewport.rotation.degrees")
                self.assertTrue_to_source(visit, degrees_now)


class Thumbnails(PageTest):
    """In the gallery; where one tile has too few pixels, the tiles of the next level lie over it."""

    def test_they_have_as_many_pixels_as_the_screen_up_to_twice_a_tile(self):
        frame = f"document.querySelector('[href$=\"{PHOTO.split('/')[-1]}\"] .frame')"
        whole = Image.open(source(PHOTO)).convert("RGB")
        for ratio, images, level in ((1, 1, (320, 180)), (2, 3, (640, 360))):
            with self.subTest(ratio=ratio):
                visit = self.visit(ratio=ratio).open("", wait=False)
                visit.until(f"return {frame}")
                visit.run(f"{frame}.scrollIntoView({{ block: 'center' }})")
                visit.until(f"""const all = [...{frame}.querySelectorAll('img')]
                    return all.length === {images} && all.every((each) => getComputedStyle(each).opacity === '1')""")
                box = visit.run(f"return {frame}.getBoundingClientRect().toJSON()")
                shot = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
                left, top, right, bottom = (round(box[side] * ratio) for side in ("left", "top", "right", "bottom"))
                shown = shot.crop((left, top, right, bottom))
                inner = (20, 20, shown.width - 20, shown.height - 20)  # Within the round corners.
                far = []
                for width, height in (level, (level[0] // 2, level[1] // 2)):
                    # The frame's edges lie between pixels; the browser draws to the nearest.
                    across, down = width / box["width"] / ratio, height / box["height"] / ratio
                    place = (across, 0, (left - box["left"] * ratio) * across, 0, down, (top - box["top"] * ratio) * down)
                    like = whole.resize((width, height), Image.Resampling.BOX).transform(
                        shown.size, Image.Transform.AFFINE, place, Image.Resampling.BILINEAR)
                    far.append(numpy.abs(numpy.subtract(shown.crop(inner), like.crop(inner), dtype=numpy.float32)).mean())
                self.assertLess(far[0], 4)
                self.assertLess(far[0], 0.85 * far[1])


if __name__ == "__main__":
    unittest.main()
