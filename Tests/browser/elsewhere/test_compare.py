"""Two pictures that are compared."""

import unittest

from accessibility import axe_violations
from embedding import EmbeddingTest

BODY = """<script type="module" src="/compare/ziggurat-compare.js"></script>
<ziggurat-compare left="/api/images/landscapes%2FSafeLanding" right="/api/images/landscapes%2FVolna" style="width: 800px; height: 450px"></ziggurat-compare>
"""
SETTLED = """const compare = document.querySelector('ziggurat-compare')
return compare?.viewers?.length === 2 && compare.viewers.every((viewer) => viewer.isFullyLoaded)"""
VIEWS = """return document.querySelector('ziggurat-compare').viewers.map(({ viewport: { scale, x, y } }) => ({ scale, x, y }))"""


class Compare(EmbeddingTest):
    def open(self, body=BODY):
        visit = self.page(body, sized=False)
        visit.until(SETTLED, "both pictures")
        return visit

    def assertInStep(self, visit):
        left, right = visit.run(VIEWS)
        for name, value in left.items():
            self.assertAlmostEqual(right[name], value, delta=0.01, msg=name)
        return left

    def shown(self, visit, x, y):
        """Which of the two is at a point of the element."""
        return visit.run(f"""const {{ left, top }} = document.querySelector('ziggurat-compare').getBoundingClientRect()
            return document.querySelector('ziggurat-compare').viewers.indexOf(document.elementFromPoint(left + {x}, top + {y}))""")

    def test_both_show_the_same_part_whichever_is_moved(self):
        visit = self.open()
        before = self.assertInStep(visit)
        box = visit.page.locator("ziggurat-compare").bounding_box()
        for x in (100, 700):
            visit.page.mouse.move(box["x"] + x, box["y"] + 200)
            visit.page.mouse.wheel(0, -240)
            visit.until(f"return document.querySelector('ziggurat-compare').viewers[0].viewport.scale > {before['scale']} * 1.2")
            visit.until(SETTLED)
            before = self.assertInStep(visit)

    def test_the_slider_parts_them_by_mouse_and_keys(self):
        visit = self.open()
        self.assertEqual([self.shown(visit, x, 60) for x in (100, 700)], [0, 1])
        slider = visit.page.get_by_role("slider", name="SafeLanding | Volna")
        box = slider.bounding_box()
        self.assertGreaterEqual(box["width"], 44)
        visit.page.mouse.move(box["x"] + 22, box["y"] + 100)
        visit.page.mouse.down()
        visit.page.mouse.move(box["x"] + 22 - 350, box["y"] + 100, steps=5)
        visit.page.mouse.up()
        self.assertEqual([self.shown(visit, x, 60) for x in (20, 120, 700)], [0, 1, 1])
        self.assertAlmostEqual(visit.run("return document.querySelector('ziggurat-compare').position"), 50 - 350 / 8, delta=1)
        slider.focus()
        visit.page.keyboard.press("End")
        self.assertEqual((slider.get_attribute("aria-valuenow"), self.shown(visit, 700, 60)), ("100", 0))
        visit.page.keyboard.press("ArrowLeft")
        self.assertEqual(slider.get_attribute("aria-valuenow"), "98")
        visit.run("document.querySelector('ziggurat-compare').position = -5")
        self.assertEqual(visit.run("return document.querySelector('ziggurat-compare').position"), 0)

    def test_side_by_side_each_has_its_half(self):
        visit = self.open(BODY.replace("<ziggurat-compare", '<ziggurat-compare mode="side"'))
        self.assertEqual([self.shown(visit, x, 60) for x in (20, 380, 420, 780)], [0, 0, 1, 1])
        self.assertEqual(visit.page.get_by_role("slider").count(), 0)
        self.assertInStep(visit)
        visit.run("document.querySelector('ziggurat-compare').viewers[1].zoomBy(2)")
        visit.until(SETTLED)
        self.assertInStep(visit)

    def test_attributes_count_when_they_are_set_and_it_can_be_moved(self):
        visit = self.open()
        visit.run("document.querySelector('ziggurat-compare').setAttribute('right', '/api/images/FallenLeaf')")
        visit.until("return document.querySelector('ziggurat-compare').viewers[1].source?.title === 'FallenLeaf'")
        visit.run("document.body.append(document.querySelector('ziggurat-compare'))")
        visit.until(SETTLED)
        visit.run("document.querySelector('ziggurat-compare').viewers[0].zoomBy(2)")
        visit.until(SETTLED)
        scales = [view["scale"] for view in visit.run(VIEWS)]
        self.assertAlmostEqual(scales[1] / scales[0], 5120 / 2560, delta=0.01)

    def test_properties_are_those_of_the_attributes_also_before_the_class_is_known(self):
        visit = self.open(BODY.replace('left="/api/images/landscapes%2FSafeLanding" ', "") + """<script>
            Object.assign(document.querySelector('ziggurat-compare'), { left: '/api/images/landscapes%2FSafeLanding', position: 30 })</script>""")
        state = """const compare = document.querySelector('ziggurat-compare')
            return [compare.left, compare.right, compare.mode, compare.label, compare.position, compare.viewers[0].src, compare.getAttribute('position')]"""
        left, right = "/api/images/landscapes%2FSafeLanding", "/api/images/landscapes%2FVolna"
        self.assertEqual(visit.run(state), [left, right, "slider", "", 30, left, "30"])
        visit.run("Object.assign(document.querySelector('ziggurat-compare'), { left: argument, mode: 'side', label: 'Then and now' })", right)
        self.assertEqual(visit.run(state), [right, right, "side", "Then and now", 30, right, "30"])

    def test_axe_finds_nothing_on_either_way_to_compare(self):
        for body in (BODY, BODY.replace("<ziggurat-compare", '<ziggurat-compare mode="side"')):
            self.assertEqual(axe_violations(self.open(body), "ziggurat-compare"), [])


if __name__ == "__main__":
    unittest.main()
