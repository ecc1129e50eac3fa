"""Calls of a program, one directly after the other: the second does not undo the first, even if an image is on its way."""

import itertools
import unittest

from cases import every_other
from embedding import EmbeddingTest

LEAF, CUPS = "/api/images/FallenLeaf", "/api/images/ColorfulCups"
SMALL = "<style>ziggurat-viewer { width: 320px; height: 200px }</style>"
# The oracle is a viewer of the same size with a pause between the calls.
PAIRS = """
    const calls = {
      zoomTo: (each) => each.zoomTo(0.3, { x: 100, y: 50 }),
      zoomBy: (each) => each.zoomBy(2),
      panTo: (each) => each.panTo({ x: 900, y: 700 }),
      fit: (each) => each.fit('cover'),
      rotate: (each) => each.rotate(30),
      flip: (each) => each.flip(),
      viewport: (each) => { each.viewport = { scale: 0.4, x: 200, y: 150 } },
      parts: (each) => { each.viewport = { x: 20, y: 10 } },
      goTo: (each) => each.goTo(1),
      open: (each) => { each.open(argument.cups) },
      src: (each) => { each.src = argument.cups },
    }
    const opening = ['goTo', 'open', 'src']
    const until = async (each, isSo) => {
      for (let turn = 0; turn < 1500 && !isSo(each); turn += 1) await new Promise((done) => setTimeout(done, 20))
      if (!isSo(each)) throw new Error('never at rest')
    }
    const rest = async (each, name) => {
      if (opening.includes(name)) await until(each, ({ source }) => source?.title === 'ColorfulCups')
      await until(each, ({ isFullyLoaded }) => isFullyLoaded)
    }
    const made = async () => {
      const each = document.createElement('ziggurat-viewer')
      each.src = argument.leaf
      document.body.append(each)
      each.setImages([argument.leaf, argument.cups], 0)
      await rest(each)
      return each
    }
    const view = ({ viewport: { scale, x, y, turn }, index, source }) =>
      [scale, x, y, turn.degrees, Number(turn.isFlipped), index, source.title]
    const failures = []
    for (const first of Object.keys(calls)) {
      await Promise.all(argument.pairs.filter(([each]) => each === first).map(async ([, second]) => {
        const [apart, together] = await Promise.all([made(), made()])
        calls[first](apart)
        await rest(apart, first)
        calls[second](apart)
        await rest(apart, second)
        calls[first](together)
        calls[second](together)
        for (const name of [first, second]) await rest(together, name)
        const [expected, found] = [view(apart), view(together)]
        if (expected.some((value, part) => typeof value === 'number' ? Math.abs(value - found[part]) > 1e-6 : value !== found[part])) {
          failures.push({ calls: `${first}, ${second}`, expected, found })
        }
        apart.remove()
        together.remove()
      }))
    }
    return failures"""
OPENING = ["goTo", "open", "src"]
CALLS = ["zoomTo", "zoomBy", "panTo", "fit", "rotate", "flip", "viewport", "parts", *OPENING]


class Programs(EmbeddingTest):
    def album(self):
        """A page with a viewer that shows the first of two images."""
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        visit.run("viewer.setImages(argument, 0)", [LEAF, CUPS])
        visit.sharp()
        return visit

    def test_two_calls_end_as_with_a_pause_between_them_if_one_brings_another_image(self):
        visit = self.page(SMALL, sized=False)
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        pairs = [pair for pair in itertools.product(CALLS, CALLS) if set(pair) & set(OPENING)]
        self.assertEqual(visit.run(PAIRS, {"leaf": LEAF, "cups": CUPS, "pairs": every_other(pairs)}), [])

    def test_a_zoom_and_a_rotation_compose(self):
        visit = self.page(f'<ziggurat-viewer src="{LEAF}"></ziggurat-viewer>')
        visit.sharp()
        visit.run("viewer.zoomTo(0.5); viewer.rotate(30); viewer.flip(); viewer.viewport = { x: 400, y: 200 }")
        self.assertEqual(visit.run("return viewer.viewport.rotation.degrees"), 30)
        visit.sharp()
        view = visit.view()
        self.assertEqual([view["scale"], view["x"], view["y"]], [0.5, 400, 200])

    def test_a_view_comes_back_from_its_json(self):
        visit = self.page(f'<ziggurat-viewer src="{LEAF}"></ziggurat-viewer>')
        visit.sharp()
        visit.run("viewer.rotate(30); viewer.flip(); viewer.viewport = { scale: 0.5, x: 300, y: 200 }")
        view = "const { scale, x, y, rotation: { degrees, isFlipped } } = viewer.viewport; return [scale, x, y, degrees, isFlipped]"
        saved, before = visit.run("return JSON.stringify(viewer.viewport)"), visit.run(view)
        visit.run("viewer.viewport = { scale: 0.2, x: 0, y: 0, rotation: { degrees: 0 } }")
        self.assertEqual(visit.run("return [viewer.viewport.rotation.degrees, viewer.viewport.rotation.isFlipped]"), [0, False])
        visit.run("viewer.viewport = JSON.parse(argument)", saved)
        self.assertEqual(visit.run(view), before)
        for wrong in ("{ rotation: {} }", "{ rotation: { degrees: NaN } }", "{ rotation: null }", "{ rotation: '30' }", "{ rotation: Infinity }", "JSON.stringify({ scale: 1 })", "2"):
            error = visit.run(f"try {{ viewer.viewport = {wrong} }} catch (error) {{ return error.name }} return ''")
            self.assertEqual(error, "TypeError", wrong)

    def test_a_call_before_the_element_is_in_the_page_is_for_its_image(self):
        visit = self.page("")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        visit.run("""const made = document.createElement('ziggurat-viewer')
            made.src = argument
            made.zoomTo(0.5)
            made.rotate(90)
            document.body.append(made)""", LEAF)
        visit.sharp()
        self.assertEqual(visit.view()["scale"], 0.5)
        self.assertEqual(visit.run("return viewer.viewport.rotation.degrees"), 90)

    def test_an_album_shows_the_image_at_its_index(self):
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        visit.run("""globalThis.events = []
            for (const type of ['open', 'page']) viewer.addEventListener(type, () => events.push(type))
            viewer.setImages(argument, 1)""", [LEAF, CUPS])
        visit.sharp()
        shown = "return [viewer.index, viewer.source.title, events.splice(0).join()]"
        self.assertEqual(visit.run(shown), [1, "ColorfulCups", "page,open"])
        # The same image is not opened again, whichever list it is in.
        visit.run("viewer.setImages([argument[1], argument[0]], 0)", [LEAF, CUPS])
        self.assertEqual(visit.run(shown), [0, "ColorfulCups", ""])
        visit.run("viewer.goTo(1)")
        visit.until("return viewer.source?.title === 'FallenLeaf'")
        visit.run("events.length = 0; viewer.setImages(viewer.images, viewer.index)")
        visit.sharp()
        self.assertEqual(visit.run("return [viewer.index, viewer.source.title, events.includes('page')]"), [1, "FallenLeaf", False])
        visit.run("viewer.setImages(viewer.images, 0)")
        visit.until("return viewer.source?.title === 'ColorfulCups'")

    def test_an_album_that_is_set_before_the_element_is_in_the_page(self):
        visit = self.page("")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        visit.run("""const made = document.createElement('ziggurat-viewer')
            made.setImages(argument, 1)
            document.body.append(made)""", [LEAF, CUPS])
        visit.sharp()
        self.assertEqual(visit.run("return viewer.source.title"), "ColorfulCups")

    def test_calls_while_the_element_is_moved_are_for_what_it_shows_then(self):
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        visit.run("viewer.src = argument", LEAF)
        visit.sharp()
        for name, move, expected in (
                ("rotated", "viewer.remove(); viewer.rotate(90); parent.append(viewer)", ["FallenLeaf", 0, 90]),
                ("images set", "viewer.remove(); viewer.setImages(argument, 1); viewer.rotate(90); parent.append(viewer)",
                 ["ColorfulCups", 1, 90]),
                ("set again", "viewer.remove(); viewer.setImages(argument, 1); viewer.setImages(argument, 0); parent.append(viewer)",
                 ["FallenLeaf", 0, 0]),
                ("put back later", "viewer.remove(); viewer.setImages(argument, 1); await 0; await 0; parent.append(viewer)",
                 ["ColorfulCups", 1, 0])):
            with self.subTest(name):
                visit.run("viewer.setImages(argument, 0)", [LEAF, CUPS])
                visit.sharp()
                visit.run("viewer.rotate(-viewer.viewport.rotation.degrees)")
                visit.sharp()
                visit.run(f"const parent = viewer.parentElement; {move}", [LEAF, CUPS])
                visit.sharp()
                self.assertEqual(
                    visit.run("return [viewer.source.title, viewer.index, viewer.viewport.rotation.degrees]"), expected)

    def test_a_call_for_the_next_image_is_dropped_if_the_page_is_not_turned(self):
        visit = self.album()
        visit.run("viewer.goTo(1); viewer.rotate(90); viewer.setImages(viewer.images, 0)")
        # The image is opened again, which would apply what still waits.
        visit.run("const parent = viewer.parentElement; viewer.remove(); await 0; await 0; parent.append(viewer)")
        visit.until("return viewer.source?.title === 'FallenLeaf'")
        visit.sharp()
        self.assertEqual(visit.run("return viewer.viewport.rotation.degrees"), 0)

    def test_a_page_turn_goes_on_where_the_element_is_put_back(self):
        visit = self.album()
        visit.run("const parent = viewer.parentElement; viewer.goTo(1); viewer.rotate(90); viewer.remove(); await 0; await 0; parent.append(viewer)")
        visit.until("return viewer.source?.title === 'ColorfulCups'")
        visit.sharp()
        self.assertEqual(visit.run("return [viewer.index, viewer.viewport.rotation.degrees]"), [1, 90])

    def test_an_image_opened_late_in_a_page_turn_keeps_its_index_and_reports_it(self):
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        for wait in (0, 250, 290, 320, 600):
            with self.subTest(wait=wait):
                visit.run("viewer.setImages(argument, 0)", [LEAF, CUPS])
                visit.sharp()
                visit.run(f"""globalThis.pages = 0
                    viewer.addEventListener('page', () => {{ pages += 1 }}, {{ once: false }})
                    viewer.goTo(1)
                    await new Promise((done) => setTimeout(done, {wait}))
                    viewer.open(argument)""", LEAF)
                visit.sharp()
                self.assertEqual(visit.run("return [viewer.index, pages > 0]"), [1, True])

    def test_a_call_that_waited_for_an_image_ends_with_idle(self):
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>")
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        visit.run("""globalThis.events = []
            for (const type of ['open', 'idle', 'complete']) viewer.addEventListener(type, () => events.push(type))
            viewer.src = argument""", LEAF)
        visit.sharp()
        visit.until("return events.includes('complete')")
        self.assertEqual(visit.run("return events.splice(0)"), ["open", "complete"])
        visit.run("viewer.open(argument); viewer.zoomTo(0.5)", CUPS)
        visit.until("return events.includes('complete')")
        self.assertEqual(visit.run("return [...events, viewer.viewport.scale]"), ["open", "idle", "complete", 0.5])

    def test_an_error_says_what_failed(self):
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>", allowed_errors=["404", "nope", "ERR_", "9/"])
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        for address, message in (
                ("/api/images/nope", r"^the server answered 404 for http://\S+/api/images/nope: there is no image of this id$"),
                ("/dzi/nope.dzi", r"^the server answered 404 for http://\S+/dzi/nope\.dzi$"),
                ("/iiif/presentation/3/collection", r": an IIIF collection is a list of manifests; give the address of one"),
                ("http://user:secret@127.0.0.1:9/x", r"^cannot open http://127\.0\.0\.1:9/x: .")):
            with self.subTest(address):
                error = visit.run("""let detail
                    viewer.addEventListener('error', (event) => { detail = event.detail }, { once: true })
                    await viewer.open(argument)
                    return { message: detail.message, status: detail.status ?? null }""", address)
                self.assertRegex(error["message"], message)
                self.assertEqual(error["status"], 404 if "nope" in address else None)
        visit.requests[:] = [url for url in visit.requests if ":9/" not in url]


if __name__ == "__main__":
    unittest.main()
