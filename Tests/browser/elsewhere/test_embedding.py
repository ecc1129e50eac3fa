"""The elements in a page of somebody else's: attributes, methods, events."""

import http.server
import math
import re
import threading
import unittest

from browser import HEIGHT, WIDTH
from embedding import EmbeddingTest


class Embedding(EmbeddingTest):
    def test_an_element_opens_a_deep_zoom_descriptor(self):
        visit = self.page('<ziggurat-viewer src="/dzi/landscapes%2FSafeLanding.dzi"></ziggurat-viewer>')
        visit.sharp()
        self.assertEqual(visit.run("return viewer.source.pyramid.imageSize"), {"width": WIDTH, "height": HEIGHT})
        self.assertAlmostEqual(visit.view()["scale"], 640 / WIDTH)

    def test_an_element_opens_an_iiif_description(self):
        visit = self.page('<ziggurat-viewer src="/iiif/3/landscapes%2FSafeLanding/info.json"></ziggurat-viewer>')
        visit.sharp()
        self.assertEqual(visit.run("return viewer.source.pyramid.imageSize"), {"width": WIDTH, "height": HEIGHT})
        asked = [url for url in visit.requests if "/iiif/3/" in url]
        self.assertGreater(len(asked), 2)
        self.assertEqual(len(asked), len(set(asked)), "none twice")

    def test_two_viewers_live_side_by_side(self):
        visit = self.page("""<ziggurat-viewer src="/api/images/landscapes%2FSafeLanding"></ziggurat-viewer>
            <ziggurat-viewer src="/api/images/landscapes%2FVolna"></ziggurat-viewer>""")
        visit.until("return [...document.querySelectorAll('ziggurat-viewer')].every((each) => each.isFullyLoaded)")
        visit.run("viewer.zoomTo(1)")
        visit.page.wait_for_timeout(400)
        scales = visit.run("return [...document.querySelectorAll('ziggurat-viewer')].map((each) => each.viewport.scale)")
        self.assertEqual(scales[0], 1)
        self.assertAlmostEqual(scales[1], 640 / WIDTH)

    def test_its_methods_do_what_they_say(self):
        visit = self.page('<ziggurat-viewer src="/api/images/landscapes%2FSafeLanding"></ziggurat-viewer>')
        visit.sharp()

        def after(script):
            visit.run(script)
            visit.page.wait_for_timeout(400)
            visit.sharp()
            return visit.view()
        point = visit.image_point(400, 250)
        after("viewer.zoomTo(0.8, { x: 400, y: 250 })")
        seen = visit.viewport_point(point)
        self.assertLess(math.dist((seen["x"], seen["y"]), (400, 250)), 1)
        view = after("viewer.panTo({ x: 3000, y: 1500 })")
        self.assertAlmostEqual((view["x"] + 320) / 0.8, 3000)
        self.assertAlmostEqual((view["y"] + 200) / 0.8, 1500)
        self.assertEqual(after("viewer.fit('none')")["scale"], 1)
        after("viewer.rotate(30); viewer.rotate(15)")
        self.assertEqual(visit.run("return viewer.viewport.rotation.degrees"), 45)
        after("viewer.flip()")
        self.assertTrue(visit.run("return viewer.viewport.rotation.isFlipped"))
        self.assertEqual(visit.run("return viewer.snapshot('image/jpeg').then((blob) => blob.type)"), "image/jpeg")

    def test_its_events_report_each_step_in_order(self):
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>")
        reported = visit.run("""const told = []
            for (const type of ['open', 'viewport', 'idle', 'fully-loaded', 'error']) {
              viewer.addEventListener(type, () => { if (told.at(-1) !== type) told.push(type) })
            }
            viewer.src = '/api/images/landscapes%2FSafeLanding'
            await new Promise((done) => viewer.addEventListener('fully-loaded', done, { once: true }))
            viewer.zoomTo(0.5)
            await new Promise((done) => viewer.addEventListener('idle', done, { once: true }))
            return told""")
        self.assertEqual(reported[:2], ["open", "viewport"])
        self.assertIn("idle", reported[reported.index("fully-loaded"):])
        self.assertNotIn("error", reported)

    def test_the_names_of_version_0_1_work_and_each_is_reported_once(self):
        visit = self.page('<ziggurat-viewer quiet cooperative tap="leave" src="/api/images/landscapes%2FSafeLanding"></ziggurat-viewer>',
                          allowed_errors=["is deprecated"])
        visit.sharp()
        attributes = "return ['ui', 'gesture-handling', 'tap', 'quiet'].map((name) => viewer.getAttribute(name))"
        self.assertEqual(visit.run(attributes), ["hidden", "cooperative", "close", ""])
        fired = visit.run("""const fired = []
            const note = (event) => fired.push(event.type)
            for (const type of ['settle', 'sharp', 'chrome', 'leave']) viewer.addEventListener(type, note)
            for (const type of ['chrome']) viewer.removeEventListener(type, note)
            const sharp = new Promise((done) => viewer.addEventListener('sharp', done, { once: true }))
            viewer.zoomTo(0.5)
            await sharp
            viewer.focus()
            viewer.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
            viewer.dispatchEvent(new KeyboardEvent('keydown', { key: 't' }))
            return [...new Set(fired)]""")
        self.assertEqual(fired, ["idle", "fully-loaded", "close"])
        self.assertTrue(visit.run("return viewer.isSharp"))
        visit.run("for (const name of ['quiet', 'cooperative']) viewer.removeAttribute(name)")
        self.assertEqual(visit.run(attributes), [None, None, "close", None])
        # A page may still ask for the old attribute after a tap.
        visit.run("viewer.setAttribute('ui', 'hidden')")
        self.assertTrue(visit.run("return viewer.hasAttribute('quiet')"))
        self.assertEqual(sorted(re.search("ziggurat-viewer: (.*) is deprecated", problem)[1] for problem in visit.errors),
                         ["attribute 'cooperative'", "attribute 'quiet'", "event 'chrome'", "event 'leave'", "event 'settle'",
                          "event 'sharp'", 'tap="leave"'])

    def test_wrong_use_is_refused_and_leaves_the_view_as_it_was(self):
        visit = self.page('<ziggurat-viewer src="/api/images/landscapes%2FSafeLanding"></ziggurat-viewer>')
        visit.sharp()
        visit.run("viewer.viewport = { scale: 0.5, x: 700, y: 300 }")
        visit.sharp()
        before = visit.view()
        self.assertEqual({key: before[key] for key in "xy"} | {"scale": before["scale"]}, {"x": 700, "y": 300, "scale": 0.5})
        for wrong in ("zoomTo(NaN)", "zoomTo()", "fit('bogus')", "fit('toString')", "zoomBy(NaN)", "panTo({ x: NaN, y: 3 })", "panTo()", "rotate(NaN)",
                      "viewport = { scale: 0 }", "viewport = { x: 'left' }", "viewport = { scale: 1, y: Infinity }"):
            with self.subTest(wrong):
                refusal = visit.run(f"try {{ viewer.{wrong} }} catch (error) {{ return error.name }}")
                self.assertIn(refusal, ["RangeError", "TypeError"])
                visit.run("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                self.assertEqual(visit.view(), before)
        for ignored in ("goTo(-1)", "goTo(5)", "goTo(NaN)", "goTo('x')"):
            self.assertEqual(visit.run(f"viewer.{ignored}; return viewer.index"), 0)
        visit.sharp()

    def test_an_unreadable_image_is_reported_and_the_next_opens(self):
        class Elsewhere(http.server.BaseHTTPRequestHandler):
            """A server that lets no other host's pages read what it has."""

            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'<Image Format="jpg" TileSize="256" Overlap="0"><Size Width="9" Height="9"/></Image>')

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        away = f"http://127.0.0.1:{server.server_port}/away.dzi"
        visit = self.page('<ziggurat-viewer></ziggurat-viewer>', allowed_errors=["404", "ERR_", "away"])
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        for wrong in ("'http://[bad'", "'/'", "'/package.json'", "'/icon.svg'", "'/api/images/nope'", "{}", "null",
                      "'/dzi/nope.dzi'", f"'{away}'"):
            with self.subTest(wrong):
                reported = visit.run(f"""let fault = null
                    viewer.addEventListener('error', ({{ detail }}) => {{ fault = detail }}, {{ once: true }})
                    await viewer.open({wrong})
                    return fault instanceof Error && viewer.shadowRoot.querySelector('.notice').textContent""")
                self.assertEqual(reported, "This image does not exist. It may have been moved or deleted." if "nope" in wrong else "The image could not be loaded.")
        visit.requests.remove(away)
        visit.run("await viewer.open('/api/images/FallenLeaf')")
        visit.sharp()
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.notice').textContent"), "")

    def test_limits_are_set_by_attributes(self):
        visit = self.page('<ziggurat-viewer src="/api/images/landscapes%2FSafeLanding" max-scale="0.5" double-tap-scale="0.3"></ziggurat-viewer>')
        visit.sharp()
        box = visit.page.locator("ziggurat-viewer").bounding_box()
        visit.page.mouse.dblclick(box["x"] + 320, box["y"] + 200)
        visit.page.wait_for_timeout(500)
        self.assertAlmostEqual(visit.view()["scale"], 0.3)
        visit.run("viewer.zoomTo(5)")
        visit.page.wait_for_timeout(500)
        self.assertEqual(visit.view()["scale"], 0.5)

    def test_an_element_that_is_taken_out_lets_everything_go(self):
        visit = self.page('<ziggurat-viewer src="/api/images/landscapes%2FSafeLanding"></ziggurat-viewer>')
        visit.sharp()
        self.assertGreater(visit.run("return viewer.cachedBytes"), 0)
        self.assertEqual(visit.run("viewer.remove(); await null; return viewer.cachedBytes"), 0)

    def test_ziggurat_zoom_gives_any_content_the_same_gestures(self):
        visit = self.page('<ziggurat-zoom aspect-ratio="2/1"><p id="words">Words</p></ziggurat-zoom>')
        get = "const zoom = document.querySelector('ziggurat-zoom');"
        visit.until(get + "return zoom.viewport")
        self.assertEqual(visit.run(get + "return zoom.viewport.scale"), 0.5)
        box = visit.page.locator("ziggurat-zoom").bounding_box()
        # The mouse goes to whole pixels, the element need not stand on one.
        across, down = round(box["x"] + 200), round(box["y"] + 260)
        x, y = across - box["x"], down - box["y"]
        point = visit.run(get + "return zoom.viewport.imagePoint(argument)", {"x": x, "y": y})
        visit.page.mouse.move(across, down)
        for _ in range(8):
            visit.page.mouse.wheel(0, -120)
            visit.page.wait_for_timeout(30)
        visit.page.wait_for_timeout(600)
        self.assertGreater(visit.run(get + "return zoom.viewport.scale"), 1)
        seen = visit.run(get + "return zoom.viewport.viewportPoint(argument)", point)
        self.assertLess(math.dist((seen["x"], seen["y"]), (x, y)), 1)
        # The content is where the viewport says.
        text_left = visit.run("const box = document.getElementById('words').getBoundingClientRect(); return box.left")
        left = visit.run(get + "return zoom.viewport.viewportPoint({ x: 0, y: 0 }).x")
        self.assertAlmostEqual(text_left - box["x"], left, delta=0.5)


if __name__ == "__main__":
    unittest.main()
