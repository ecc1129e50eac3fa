"""A part of a picture that who may write saves as a picture of its own."""

import unittest

from editing import EditingTest


class SavedCopies(EditingTest):
    def crop(self, visit):
        visit.until("return viewer.isFullyLoaded")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Crop and rotate").click()
        visit.until("return viewer.viewport.height < innerHeight - 100 && viewer.isFullyLoaded", "the picture above the bar")

    def test_it_is_saved_reported_shown_in_the_gallery_and_can_be_opened(self):
        visit = self.writer()
        self.picture(visit, "b").click()
        visit.until("return Boolean(viewer.saveCopy)", "what who may write can do")
        self.crop(visit)
        visit.page.get_by_label("Aspect ratio").select_option("1 : 1")
        visit.page.get_by_role("button", name="Rotate right").click()
        visit.page.get_by_role("button", name="Done").click()
        for width, height in ((390, 844), (320, 568), (1280, 800)):
            visit.page.set_viewport_size({"width": width, "height": height})
            visit.page.wait_for_timeout(100)
            for box in visit.run("return [...viewer.shadowRoot.querySelectorAll('.cropbar, .cropbar .rows:not([hidden]) .wide')].map((each) => each.getBoundingClientRect().toJSON())"):
                self.assertTrue(box["left"] >= 0 and box["right"] <= width and box["bottom"] <= height, (width, box))
        visit.page.get_by_role("button", name="Save a copy").click()
        self.spoken(visit, "Saved as b-crop.")
        made = self.api("images/b-crop")
        self.assertEqual((made["width"], made["height"]), (800, 800))
        # The crop is still there, for another format or a change.
        self.assertTrue(visit.page.get_by_role("link", name="Download").is_visible())
        visit.page.get_by_role("button", name="Show").click()
        visit.until("return location.pathname === '/view/b-crop'")
        visit.until("return document.querySelector('#title').textContent === 'b-crop'")
        visit.page.goto(self.host)
        visit.until("return [...document.querySelectorAll('.picture .caption')].some((each) => each.textContent === 'b-crop')")

    def test_a_reader_has_no_such_button(self):
        visit = self.visit(host=self.host)
        visit.open("view/b", wait=False)
        visit.until("return viewer.isComplete")
        self.crop(visit)
        visit.page.get_by_role("button", name="Done").click()
        self.assertTrue(visit.page.get_by_role("link", name="Download").is_visible())
        self.assertEqual(visit.page.get_by_role("button", name="Save a copy").count(), 0)

    def test_an_error_of_the_server_is_reported(self):
        visit = self.writer(allowed_errors=["404"])
        self.picture(visit, "c").click()
        visit.until("return Boolean(viewer.saveCopy)", "what who may write can do")
        self.crop(visit)
        self.api("images/c", "DELETE")
        visit.page.get_by_role("button", name="Done").click()
        visit.page.get_by_role("button", name="Save a copy").click()
        self.spoken(visit, "This image is no longer available.")
        self.assertTrue(visit.page.get_by_role("button", name="Save a copy").is_enabled())


if __name__ == "__main__":
    unittest.main()
