"""What programs hear of a viewer's moves: each once, with its cause; two viewers in step."""

import unittest

from embedding import PICTURE, VIEWER, EmbeddingTest
from harness import seed

TWO = VIEWER + VIEWER
# Two frames: what was asked for in one is done by the next.
FRAMES = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));"
BOTH = "const [one, two] = document.querySelectorAll('ziggurat-viewer');"


class Moves(EmbeddingTest):
    def causes(self, visit, script):
        """The viewport events while the script runs, and until the picture rests."""
        visit.run("""globalThis.causes = []
            viewer.addEventListener('viewport', globalThis.hear = ({ detail }) => globalThis.causes.push(detail.cause))""")
        if callable(script):
            script()
        else:
            visit.run(script)
        visit.run(FRAMES)
        visit.sharp()
        return visit.run("viewer.removeEventListener('viewport', globalThis.hear); return globalThis.causes")

    def test_the_event_has_its_cause_and_comes_only_with_a_change(self):
        visit = self.page(VIEWER)
        visit.sharp()
        self.assertEqual(self.causes(visit, "viewer.viewport = { scale: 0.5, x: 300, y: 200 }"), ["program"])
        self.assertEqual(self.causes(visit, "viewer.viewport = { scale: 0.5, x: 300, y: 200 }"), [])
        self.assertEqual(self.causes(visit, "viewer.viewport = viewer.viewport"), [])
        self.assertEqual(set(self.causes(visit, "viewer.zoomBy(1.2)")), {"program"})
        self.assertEqual(self.causes(visit, "viewer.rotate(0)"), [])
        self.assertEqual(self.causes(visit, "viewer.rotate(90)"), ["program"])
        self.assertEqual(set(self.causes(visit, "viewer.focus(); viewer.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }))")),
                         {"user"})
        self.assertEqual(set(self.causes(visit, lambda: visit.page.get_by_role("button", name="Zoom out").click())), {"user"})
        box = visit.page.locator("ziggurat-viewer").bounding_box()

        def wheel():
            visit.page.mouse.move(box["x"] + 200, box["y"] + 200)
            visit.page.mouse.wheel(0, -240)
        self.assertEqual(set(self.causes(visit, wheel)), {"user"})

        def drag():
            visit.page.mouse.move(box["x"] + 200, box["y"] + 200)
            visit.page.mouse.down()
            visit.page.mouse.move(box["x"] + 150, box["y"] + 160, steps=4)
            visit.page.mouse.up()
        self.assertEqual(set(self.causes(visit, drag)), {"user"})
        self.assertEqual(self.causes(visit, "viewer.style.width = '600px'"), ["resize"])
        self.assertEqual(set(self.causes(visit, "viewer.fit()")), {"program"})
        # A motion of the program goes on after the resize as the program's.
        causes = self.causes(visit, "viewer.zoomTo(2); setTimeout(() => { viewer.style.width = '620px' }, 60)")
        self.assertLessEqual(causes.count("resize"), 1)
        self.assertEqual(causes[-1], "program")

    def test_setting_the_viewport_notifies_synchronously(self):
        visit = self.page(VIEWER)
        visit.sharp()
        reported = visit.run("""const told = []
            viewer.addEventListener('viewport', () => told.push(viewer.viewport.scale))
            viewer.viewport = { scale: 0.5 }
            told.push('next line')
            return told""")
        self.assertEqual(reported, [0.5, "next line"])

    def test_two_viewers_kept_in_step_by_a_guard_come_to_rest(self):
        for second in ("640px", "480px"):
            with self.subTest(second=second):
                visit = self.page(TWO)
                visit.run(BOTH + "two.style.width = argument", second)
                visit.until("return [...document.querySelectorAll('ziggurat-viewer')].every((each) => each.isFullyLoaded)")
                visit.run(BOTH + """
                    let guarded = false
                    globalThis.told = 0
                    for (const [from, to] of [[one, two], [two, one]]) {
                      from.addEventListener('viewport', () => {
                        globalThis.told += 1
                        if (guarded) return
                        guarded = true
                        to.viewport = from.viewport
                        guarded = false
                      })
                    }
                    one.zoomTo(1, { x: 100, y: 90 })
                    await new Promise((done) => one.addEventListener('idle', done, { once: true }))""")
                rest = visit.run(FRAMES + "return globalThis.told")
                visit.run("for (let time = 0; time < 10; time += 1) { " + FRAMES + " }")
                self.assertEqual(visit.run("return globalThis.told"), rest, "they go on telling each other")
                centers = visit.run(BOTH + "return [one, two].map(({ viewport }) => [viewport.scale, viewport.imageCenter])")
                self.assertEqual(centers[0][0], 1, "the flight was not stopped by its own echo")
                self.assertEqual(*centers)

    def test_viewers_in_step_show_the_same_part_until_that_ends(self):
        chance = seed("in step")
        visit = self.page(TWO)
        visit.until("return [...document.querySelectorAll('ziggurat-viewer')].every((each) => each.isFullyLoaded)")
        # The same picture at half its size beside it, in a window of another width.
        visit.modules().run(BOTH + """two.style.width = '500px'
            const source = one.source
            const { Pyramid } = await import('/sources/geometry/pyramid.js')
            await two.open({ ...source, pyramid: new Pyramid({ width: 2560, height: 1440 }, 512),
              tileURL: (level, column, row) => source.tileURL(level, column, row) })
            globalThis.told = 0
            for (const each of [one, two]) each.addEventListener('viewport', () => { globalThis.told += 1 })
            globalThis.end = one.syncWith(two)""")
        for _ in range(20):
            step = {"who": chance.randrange(2), "scale": chance.uniform(0.3, 0.9),
                    "x": chance.uniform(0.4, 0.6), "y": chance.uniform(0.4, 0.6), "turn": chance.choice([0, 0, 90])}
            views = visit.run(BOTH + """
                const moved = [one, two][argument.who]
                const { width, height } = moved.source.pyramid.imageSize
                moved.rotate(argument.turn)
                moved.viewport = moved.viewport.with({ scale: argument.scale * 5120 / width })
                  .centered({ x: argument.x * width, y: argument.y * height })
                return [one, two].map(({ viewport, source: { pyramid: { imageSize } } }) => [
                  viewport.scale * imageSize.width, viewport.imageCenter.x / imageSize.width,
                  viewport.imageCenter.y / imageSize.height, viewport.rotation.degrees])""", step)
            for one, two in zip(*views):
                self.assertAlmostEqual(one, two, places=6, msg=f"step {step}")
        reported = visit.run(FRAMES + "return globalThis.told")
        visit.run(FRAMES + FRAMES)
        self.assertEqual(visit.run("return globalThis.told"), reported)
        visit.run(BOTH + "globalThis.end(); globalThis.before = two.viewport; one.viewport = { scale: 0.25 }")
        self.assertTrue(visit.run(FRAMES + BOTH + "return two.viewport === globalThis.before"))

    def test_a_resize_of_one_in_step_leaves_the_other(self):
        visit = self.page(TWO)
        visit.until("return [...document.querySelectorAll('ziggurat-viewer')].every((each) => each.isFullyLoaded)")
        visit.run(BOTH + "one.syncWith(two); one.viewport = { scale: 0.5, x: 600, y: 400 }; one.style.height = '300px'")
        visit.until(BOTH + "return one.viewport.height === 300")
        self.assertEqual(visit.run(FRAMES + BOTH + "return [two.viewport.height, two.viewport.scale]"), [400, 0.5])


class Life(EmbeddingTest):
    def test_attributes_count_when_they_are_set_later(self):
        visit = self.page(VIEWER)
        visit.sharp()
        visit.run("viewer.viewport = { scale: 1, x: 900, y: 700 }")
        visit.run("viewer.setAttribute('max-scale', '0.5')")
        self.assertEqual(visit.view()["scale"], 0.5)
        visit.run("viewer.setAttribute('min-scale', '0.25'); viewer.viewport = { scale: 0.01 }")
        self.assertEqual(visit.view()["scale"], 0.25)
        visit.run("viewer.removeAttribute('max-scale'); viewer.viewport = { scale: 0.9 }")
        self.assertEqual(visit.view()["scale"], 0.9)
        visit.run("viewer.setAttribute('view', 'scale=0.3&x=200&y=100')")
        self.assertEqual([visit.view()[name] for name in ("scale", "x", "y")], [0.3, 200, 100])
        # A second click on the same link.
        visit.run("viewer.viewport = { scale: 0.8 }; viewer.setAttribute('view', 'scale=0.3&x=200&y=100')")
        self.assertEqual([visit.view()[name] for name in ("scale", "x", "y")], [0.3, 200, 100])
        visit.run("viewer.setAttribute('view', 'nonsense')")
        self.assertEqual(visit.view()["scale"], 0.3)
        visit.sharp()

    def test_what_is_set_before_the_elements_are_known_counts(self):
        visit = self.page(f"""<ziggurat-viewer></ziggurat-viewer><script>
            Object.assign(document.querySelector('ziggurat-viewer'), {{ mine: 7, saveCopy: () => {{}},
                viewport: {{ scale: 0.5, x: 300, y: 200, rotation: 30 }}, src: '{PICTURE}', actions: [{{ name: 'Here', run() {{}} }}] }})</script>""")
        visit.sharp()
        self.assertEqual(visit.run("""return [viewer.getAttribute('src'), viewer.viewport.scale, viewer.viewport.rotation.degrees, viewer.mine,
            viewer.actions.length, typeof viewer.saveCopy, Object.keys(viewer).filter((name) => name === 'src' || name === 'viewport')]"""),
                         [PICTURE, 0.5, 30, 7, 1, "function", []])

    def test_a_wrong_value_of_before_is_reported_and_the_others_count(self):
        visit = self.page(f"""<ziggurat-viewer></ziggurat-viewer><script>
            Object.assign(document.querySelector('ziggurat-viewer'), {{ viewport: 7, src: '{PICTURE}' }})</script>""",
                          allowed_errors=["must be an object, not number"])
        visit.sharp()
        self.assertEqual(visit.run("return viewer.src"), PICTURE)

    def test_the_attributes_count_for_what_was_opened_in_their_place(self):
        visit = self.page(VIEWER)
        visit.sharp()
        other = PICTURE.replace("/api/images/", "/iiif/3/") + "/info.json"
        visit.run("await viewer.open(argument)", other)
        visit.sharp()
        visit.run("viewer.setAttribute('view', 'scale=0.3&x=200&y=100')")
        self.assertEqual([visit.view()[name] for name in ("scale", "x", "y")], [0.3, 200, 100])
        visit.run("globalThis.opened = 0; viewer.addEventListener('open', () => globalThis.opened++); viewer.setAttribute('src', argument)", PICTURE)
        visit.until("return globalThis.opened === 1")
        visit.sharp()
        visit.run("viewer.setAttribute('src', argument)", PICTURE)
        self.assertEqual(visit.run("return globalThis.opened"), 1)

    def test_degrees_alone_leave_the_image_mirrored_as_it_is(self):
        visit = self.page(VIEWER)
        visit.sharp()
        visit.run("viewer.flip(); viewer.viewport = { rotation: 30 }")
        rotation = "return [viewer.viewport.rotation.degrees, viewer.viewport.rotation.isFlipped]"
        self.assertEqual(visit.run(rotation), [30, True])
        visit.run("viewer.viewport = { rotation: { degrees: 40 } }")
        self.assertEqual(visit.run(rotation), [40, False])
        # While another image is being opened, the moves are meant for that one.
        visit.run("viewer.src = '/api/images/FallenLeaf'; viewer.flip(); viewer.viewport = { rotation: 20 }")
        visit.until("return viewer.viewport?.rotation.degrees === 20")
        self.assertEqual(visit.run(rotation), [20, True])

    def test_a_view_that_is_set_after_the_image_counts(self):
        visit = self.page(VIEWER)
        visit.sharp()
        visit.run("viewer.src = '/api/images/FallenLeaf'; viewer.setAttribute('view', 'scale=0.5&x=50&y=40')")
        visit.until("return viewer.source?.title === 'FallenLeaf' || viewer.source?.id === 'FallenLeaf'")
        visit.sharp()
        self.assertEqual([visit.view()[name] for name in ("scale", "x", "y")], [0.5, 50, 40])

    def test_a_region_is_shown_as_large_as_it_fits(self):
        visit = self.page(VIEWER)
        visit.sharp()
        for region, degrees in (((300, 200, 400, 100), 0), ((300, 200, 100, 400), 0), ((500, 300, 300, 200), 30)):
            with self.subTest(region=region, degrees=degrees):
                x, y, width, height = region
                visit.run("viewer.viewport = { rotation: argument }", degrees)
                visit.run("viewer.zoomToRegion(argument)", dict(x=x, y=y, width=width, height=height))
                visit.sharp()
                corners = visit.run("""return argument.map(([x, y]) => viewer.imageToElement({ x, y })).map(({ x, y }) => [x, y])""",
                                    [[x + dx, y + dy] for dx in (0, width) for dy in (0, height)])
                xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
                self.assertAlmostEqual((min(xs) + max(xs)) / 2, 320, delta=1)
                self.assertAlmostEqual((min(ys) + max(ys)) / 2, 200, delta=1)
                # One side touches, the other is within.
                self.assertAlmostEqual(max((max(xs) - min(xs)) / 640, (max(ys) - min(ys)) / 400), 1, delta=0.01)
        self.assertIn("zoomToRegion: width must be a finite number", visit.run(
            "try { viewer.zoomToRegion({ x: 1, y: 2 }) } catch (error) { return error.message }"))

    def test_without_a_source_there_is_no_picture(self):
        visit = self.page(VIEWER)
        visit.sharp()
        for clear in ("viewer.removeAttribute('src')", "viewer.src = ''"):
            with self.subTest(clear):
                reported = visit.run(clear + """; return [viewer.source, viewer.viewport, viewer.cachedBytes,
                    viewer.shadowRoot.querySelector('.scale').textContent]""")
                self.assertEqual(reported, [None, None, 0, ""])
                visit.run("viewer.src = argument", PICTURE)
                visit.sharp()
        # What is still on its way when it is cleared does not come.
        self.assertIsNone(visit.run("viewer.src = '/api/images/FallenLeaf'; viewer.removeAttribute('src');"
                                    "await new Promise((done) => setTimeout(done, 300)); return viewer.source"))

    def test_an_element_that_is_moved_stays_where_it_was(self):
        for way in ("element.append(viewer)", "element.moveBefore?.(viewer, null) ?? element.append(viewer)",
                    "viewer.remove(); await new Promise((done) => setTimeout(done, 100)); element.append(viewer)"):
            with self.subTest(way):
                visit = self.page(VIEWER)
                visit.sharp()
                visit.run("viewer.viewport = { scale: 0.5, x: 700, y: 300 }; viewer.rotate(90)")
                visit.sharp()
                before = visit.view()
                visit.run("const element = document.body.appendChild(document.createElement('section'));" + way)
                visit.sharp()
                self.assertEqual(visit.view(), before)
                self.assertEqual(visit.run("return viewer.viewport.rotation.degrees"), 90)
                box = visit.page.locator("ziggurat-viewer").bounding_box()
                visit.page.mouse.move(box["x"] + 100, box["y"] + 100)
                visit.page.mouse.wheel(0, -240)
                visit.until("return viewer.viewport.scale > 0.55", "it hears the wheel there")

    def test_a_move_under_a_finger_lets_it_go(self):
        visit = self.page(VIEWER)
        visit.sharp()
        visit.run("viewer.viewport = { scale: 0.5, x: 700, y: 300 }")
        box = visit.page.locator("ziggurat-viewer").bounding_box()
        visit.page.mouse.move(box["x"] + 100, box["y"] + 100)
        visit.page.mouse.down()
        visit.page.mouse.move(box["x"] + 150, box["y"] + 130, steps=3)
        visit.run("document.body.append(viewer)")
        visit.sharp()
        self.assertFalse(visit.run("return viewer.hasAttribute('held')"))
        visit.page.mouse.up()

    def test_without_a_height_it_has_that_of_its_picture(self):
        for style, width, height in (("", 984, 984 * 2880 / 5120), ("width: 320px", 320, 180), ("height: 200px", 984, 200),
                                     ("width: 300px; height: 300px", 300, 300)):
            with self.subTest(style):
                visit = self.page(f'<ziggurat-viewer src="{PICTURE}" style="{style}"></ziggurat-viewer>', sized=False)
                visit.sharp()
                visit.until(f"return Math.abs(viewer.viewport?.height - {height}) < 1", f"{height} pixels high")
                self.assertAlmostEqual(visit.view()["width"], width, delta=1)
        tall = self.page('<ziggurat-viewer src="/api/images/AltaiTall"></ziggurat-viewer>', sized=False)
        tall.sharp()
        self.assertLessEqual(tall.view()["height"], 700, "never higher than the window")


if __name__ == "__main__":
    unittest.main()
