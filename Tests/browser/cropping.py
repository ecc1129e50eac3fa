"""What tests of the cropper share."""

import re

from browser import HEIGHT, WIDTH, PageTest


class CropTest(PageTest):
    def open(self, view="", inside=True, **options):
        """- inside: with a frame that is smaller than the picture on all sides."""
        visit = self.visit(**options)
        visit.photo(view=view)
        visit.until("return viewer.images.length > 1", "the address is as it stays")
        self.begin(visit)
        if inside:
            by = min(visit.width, visit.height) / 12
            self.drag(visit, "Top left", by, by).up()
            self.drag(visit, "Bottom right", -by, -by).up()
        return visit

    def begin(self, visit):
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Crop and rotate").click()
        visit.until("return viewer.viewport.height < innerHeight - 100 && viewer.isFullyLoaded", "the picture above the bar")

    FILE = "return viewer.shadowRoot.querySelector('.cropbar a').href.replace('?download', '')"

    def address(self, visit):
        address = visit.run(self.FILE)
        found = re.search(r"/iiif/3/landscapes%2FSafeLanding/(?:(full)|(\d+),(\d+),(\d+),(\d+))/max/(!?[\d.]+)/default\.(\w+)$", address)
        self.assertTrue(found, address)
        region = (0, 0, WIDTH, HEIGHT) if found[1] else tuple(int(found[index]) for index in range(2, 6))
        return region, found[6], found[7]

    def frame(self, visit):
        return visit.run("""const box = viewer.shadowRoot.querySelector('.frame').getBoundingClientRect()
            return [box.left, box.top, box.right, box.bottom]""")

    def drag(self, visit, name, dx, dy, steps=4):
        box = visit.page.get_by_role("button", name=name, exact=True).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        visit.page.mouse.move(x, y)
        visit.page.mouse.down()
        visit.page.mouse.move(x + dx, y + dy, steps=steps)
        return visit.page.mouse
