"""A page of somebody else's, with our elements in it."""

import http.server
import threading
from collections.abc import Callable

from browser import PageTest

PAGE = """<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="module" src="/viewer/elements.js"></script><h1>A page</h1>
"""
# From the first frame on: what is sized later is sharp before it, too.
SIZES = """<style>ziggurat-viewer { width: 640px; height: 400px } ziggurat-zoom { width: 500px; height: 500px }</style>
"""
PICTURE = "/api/images/landscapes%2FSafeLanding"
VIEWER = f'<ziggurat-viewer src="{PICTURE}"></ziggurat-viewer>'


class Elsewhere:
    """A server of another origin, with files by path. Each path that it is asked for is passed on."""

    def __init__(self, files: dict[str, tuple[str, str]], headers: dict[str, str] | None = None, asked: Callable[[str], None] = lambda _: None):
        """- files: media type and content. - headers: of the page, which is at `/`."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked(self.path)
                path = self.path.split("?")[0]
                kind, content = files.get(path, ("text/plain", ""))
                self.send_response(200)
                self.send_header("Content-Type", kind)
                for name, value in (headers or {}).items() if path == "/" else ():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content.encode())

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class EmbeddingTest(PageTest):
    def page(self, body, width=1000, height=700, allowed_errors=(), sized=True, **options):
        """- sized: the viewer has a size of its own."""
        visit = self.visit(width=width, height=height, allowed_errors=allowed_errors, **options)
        text = PAGE + (SIZES if sized else "") + body
        visit.page.route("**/embedding", lambda route: route.fulfill(content_type="text/html", body=text))
        visit.open("embedding", wait=False)
        return visit
