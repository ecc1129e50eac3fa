"""The viewer's geometry is the server's: the same viewport, the same level, the same tiles in the same order."""

import unittest
import urllib.parse

from browser import HEIGHT, PHOTO, WIDTH, PageTest
from harness import seed

AGREE = """
    const { Coverage } = await import('/sources/geometry/coverage.js')
    const { Rotation } = await import('/sources/geometry/rotation.js')
    const { Viewport } = await import('/sources/geometry/viewport.js')
    const { pyramid } = viewer.source
    const faults = []
    for (const query of argument.queries) {
      const answer = await (await fetch(argument.path + '?' + new URLSearchParams(query))).json()
      const fault = (what) => faults.push(JSON.stringify(query) + ': ' + what)
      const rotation = new Rotation(query.rotation, query.flip)
      const coverage = new Coverage(pyramid, new Viewport({ ...query, rotation }), query.dpr)
      if (coverage.level !== answer.level) fault(`level ${coverage.level}, not ${answer.level}`)
      const name = (tile) => [tile.level, tile.column, tile.row].join('/')
      if (coverage.tiles().map(name).join() !== answer.tiles.map(name).join()) fault('other tiles or another order')
      for (const { column, row, source } of answer.tiles) {
        const size = pyramid.size(coverage.level)
        const [across, down] = [pyramid.span(column, size.width), pyramid.span(row, size.height)]
        if ([across.start, down.start, across.length, down.length].join() !== [source.x, source.y, source.width, source.height].join()) fault('source')
      }
    }
    return faults
"""


class Geometry(PageTest):
    def test_it_agrees_with_the_server_for_random_viewports(self):
        chance = seed("geometry")
        queries = []
        for _ in range(300):
            scale = 2 ** chance.uniform(-7, 3)
            queries.append({
                "width": chance.uniform(1, 2600), "height": chance.uniform(1, 1600), "scale": scale,
                "x": chance.uniform(-0.3, 1.1) * WIDTH * scale, "y": chance.uniform(-0.3, 1.1) * HEIGHT * scale,
                "rotation": chance.choice([0, 90, 180, 270, chance.uniform(0, 360)]),
                "flip": chance.random() < 0.3, "dpr": chance.choice([1, 1.5, 2, 3]),
            })
        visit = self.visit().photo().modules()
        path = f"/api/images/{urllib.parse.quote(PHOTO, safe='')}/viewport"
        errors = visit.page.evaluate(
            "async (argument) => { const viewer = document.querySelector('ziggurat-viewer'); " + AGREE + "}",
            {"queries": queries, "path": path})
        self.assertEqual(errors, [])


if __name__ == "__main__":
    unittest.main()
