"""A page of somebody else's, with our elements in it."""

from browser import PageTest

PAGE = """<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="module" src="/viewer/elements.js"></script><h1>A page</h1>
"""
# From the first frame on: what is sized later is sharp before it, too.
SIZES = """<style>ziggurat-viewer { width: 640px; height: 400px } ziggurat-zoom { width: 500px; height: 500px }</style>
"""
PICTURE = "/api/images/landscapes%2FSafeLanding"
VIEWER = f'<ziggurat-viewer src="{PICTURE}"></ziggurat-viewer>'


class EmbeddingTest(PageTest):
    def page(self, body, width=1000, height=700, faults=(), sized=True, **options):
        """- sized: the viewer has a size of its own."""
        visit = self.visit(width=width, height=height, faults=faults, **options)
        text = PAGE + (SIZES if sized else "") + body
        visit.page.route("**/embedding", lambda route: route.fulfill(content_type="text/html", body=text))
        visit.open("embedding", wait=False)
        return visit
