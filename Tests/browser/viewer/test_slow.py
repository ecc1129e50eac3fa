"""A slow phone on a slow line: a processor a quarter as fast, 400 ms to the server and back, 50 kB a second."""

import unittest

from browser import PageTest
from test_bundle import host

PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}
SEEN = """const { width, height } = viewer.shadowRoot.querySelector('canvas.picture')
    const pixels = viewer.shadowRoot.querySelector('canvas.picture').getContext('2d').getImageData(0, height / 2, width, 1).data
    return pixels.some((value) => value)"""


class Slow(PageTest):
    def slow(self, visit):
        session = visit.context.new_cdp_session(visit.page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {
            "offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000})
        session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        return session

    def test_of_a_link_the_picture_is_seen_coarse_first_and_pages_turn_before_it_is_sharp(self):
        # The test reads the canvas; nobody else does.
        visit = self.visit(host=host(), allowed_errors=["readback"], **PHONE)
        self.slow(visit)
        visit.page.add_init_script("""globalThis.told = []
            addEventListener('open', () => told.push('open'), true)
            addEventListener('complete', () => told.push('complete'), true)
            new MutationObserver(() => document.getElementById('counter')?.hidden === false && !told.includes('album') && told.push('album'))
              .observe(document, { subtree: true, childList: true, attributes: true })""")
        visit.photo("deep/1", wait=False)
        visit.until("return viewer?.source && !viewer.isFullyLoaded && (() => {" + SEEN + "})()", "coarse pixels before all are there")
        visit.sharp()
        visit.until("return told.includes('album') && told.includes('complete')")
        self.assertEqual(visit.run("return told"), ["open", "album", "complete"])
        visit.page.keyboard.press("PageDown")
        visit.until("return viewer.index === 2 && viewer.isFullyLoaded", "the next one")

    def test_from_the_gallery_the_thumbnail_is_seen_until_the_picture_is_there(self):
        visit = self.visit(host=host(), **PHONE).open(wait=False)
        visit.until("return !document.querySelector('#grid img:not(.there)') && document.querySelector('.view.waiting')")
        # From here on, since a browser slows its processor down by keeping it busy.
        session = self.slow(visit)
        seen = visit.run("""document.querySelectorAll('#grid a')[1].click()
            const preview = document.querySelector('.view:not(.waiting) ziggurat-viewer').shadowRoot.querySelector('canvas.preview')
            return preview.getContext('2d').getImageData(0, 0, preview.width, preview.height).data.some((value) => value)""")
        self.assertTrue(seen, "at once")
        visit.until("return viewer.isFullyLoaded && !document.querySelector('.growing')")
        # A finger that does not wait for it.
        fingers = visit.touches(pace=0.016)
        fingers.down((320, 420))
        for x in (270, 200, 120, 60):
            fingers.send("touchMove", [(x, 420)])
        fingers.up()
        visit.until("return viewer.index === 2 && viewer.isFullyLoaded")
        # Kept busy so, and asked whether it is done, it may draw no frame at all.
        session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        visit.page.go_back()
        visit.until("return location.pathname === '/' && !document.querySelector('.view:not(.waiting)')")


if __name__ == "__main__":
    unittest.main()
