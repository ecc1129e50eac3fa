"""A page of somebody else's, with our elements in it."""

from browser import PageTest

PAGE = """<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="module" src="/viewer/elements.js"></script><h1>A page</h1>
"""
PICTURE = "/api/images/landscapes%2FSafeLanding"
VIEWER = f'<ziggurat-viewer src="{PICTURE}"></ziggurat-viewer>'


class EmbeddingTest(PageTest):
    def page(self, body, width=1000, height=700, faults=(), sized=True, **options):
        """- sized: the viewer has a size of its own."""
        visit = self.visit(width=width, height=height, faults=faults, **options)
        visit.page.route("**/embedding", lambda route: route.fulfill(content_type="text/html", body=PAGE + body))
        visit.open("embedding", wait=False)
        if sized:
            visit.run("""const style = (name, properties) => document.querySelectorAll(name).forEach((element) =>
                Object.assign(element.style, properties))
                style('ziggurat-viewer', { width: '640px', height: '400px' })
                style('ziggurat-zoom', { width: '500px', height: '500px' })""")
        return visit
