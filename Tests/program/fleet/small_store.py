"""An object store for tests: what it promises of S3, in memory, and every request counted.

Digests of what is sent are compared, ranges and If-Match are obeyed, lists come in pages. Whom it trusts it does not ask:
real stores are met in Tests/scale.
"""

import functools
import hashlib
import re
import socket
import threading
import time
import urllib.parse
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape


class SmallStore:
    BUCKET = "pictures"

    def __init__(self, page=1000, port=0):
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.page = page
        # When objects were written.
        self.written: dict[str, float] = {}
        # Seconds before each answer.
        self.delay = 0.0
        # Status codes that the next requests are answered with, whatever they ask.
        self.errors: list[int] = []
        # The same of objects alone whose keys begin so.
        self.errors_below: dict[str, list[int]] = {}
        # Called with a handler, status, body and headers before each answer; true if it answered in the handler's place.
        self.spoil = None
        # Whether a client may make a request: called with method, key and query; all may if it is None.
        self.allows = None
        # Entity tags that PUT answers with, in turn, instead of the right ones.
        self.wrong_tags: list[str] = []
        # Sizes that lists name instead of the right ones.
        self.listed_sizes: dict[str, int] = {}
        # Seconds before each byte of a list; 0 for all at once.
        self.drip = 0.0
        self.lock = threading.Lock()
        self.connections = []
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with store.lock:
                    store.connections.append(self.connection)

            def log_message(self, *_):
                pass

            def answer(self, status, body=b"", **headers):
                if store.spoil and store.spoil(self, status, body, headers):
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def handle_request(self):
                url = urllib.parse.urlsplit(self.path)
                bucket, _, key = urllib.parse.unquote(url.path[1:]).partition("/")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                time.sleep(store.delay)
                with store.lock:
                    store.requests.append((self.command, key))
                    if store.errors:
                        return self.answer(store.errors.pop(0))
                    for below, remaining in store.errors_below.items():
                        if key.startswith(below) and remaining:
                            return self.answer(remaining.pop(0))
                if bucket != store.BUCKET:
                    return self.answer(404)
                query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
                if store.allows and not store.allows(self.command, key, query):
                    return self.answer(403)
                getattr(self, self.command.lower())(key, query, body)

            do_GET = do_PUT = do_DELETE = do_HEAD = handle_request

            def put(self, key, _, body):
                if hashlib.sha256(body).hexdigest() != self.headers["x-amz-content-sha256"]:
                    return self.answer(400)
                with store.lock:
                    store.objects[key] = body
                    store.written[key] = time.time()
                self.answer(200, ETag=store.wrong_tags.pop(0) if store.wrong_tags else store.etag(body))

            def delete(self, key, *_):
                with store.lock:
                    store.objects.pop(key, None)
                self.answer(204)

            def head(self, key, *_):
                self.get(key)

            def get(self, key, query=None, _=b""):
                if not key:
                    return self.list(query)
                body = store.objects.get(key)
                if body is None:
                    # Whether an object exists is known to those who may list it.
                    return self.answer(404 if not store.allows or store.allows("GET", "", {"prefix": key}) else 403)
                etag = store.etag(body)
                if self.headers.get("If-Match", etag) != etag:
                    return self.answer(412)
                found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
                if not found:
                    date = formatdate(store.written.get(key, 0), usegmt=True)
                    return self.answer(200, body, ETag=etag, Last_Modified=date)
                if found[1]:
                    start, end = int(found[1]), min(int(found[2] or len(body)), len(body) - 1)
                else:
                    start, end = max(0, len(body) - int(found[2])), len(body) - 1
                self.answer(206, body[start:end + 1], ETag=etag, Content_Range=f"bytes {start}-{end}/{len(body)}")

            def list(self, query):
                with store.lock:
                    every = sorted(key for key in store.objects if key.startswith(query.get("prefix", ""))
                                   and key > query.get("start-after", ""))
                    keys = every[:store.page]
                    encodes = query.get("encoding-type") == "url"
                    found = "<EncodingType>url</EncodingType>" if encodes else ""
                    found += f"<IsTruncated>{str(len(keys) < len(every)).lower()}</IsTruncated>"
                    found += "".join(
                        f"<Contents><Key>{urllib.parse.quote_plus(key, safe='/') if encodes else escape(key)}</Key><ETag>{escape(store.etag(store.objects[key]))}</ETag>"
                        f"<Size>{store.listed_sizes.get(key, len(store.objects[key]))}</Size></Contents>" for key in keys)
                body = f"<ListBucketResult>{found}</ListBucketResult>".encode()
                if not store.drip:
                    return self.answer(200, body)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                for byte in body:
                    time.sleep(store.drip)
                    self.wfile.write(bytes([byte]))

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_):
                pass  # a client that was killed has gone

        self.server = Server(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @staticmethod
    @functools.lru_cache(maxsize=4096)
    def etag(body):
        return f'"{hashlib.md5(body).hexdigest()}"'

    @property
    def environment(self):
        return {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.server.server_port}", "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "small", "AWS_SECRET_ACCESS_KEY": "small-secret"}

    def keys(self, below=""):
        with self.lock:
            return sorted(key for key in self.objects if key.startswith(below))

    def taken(self):
        """The requests since this was asked last."""
        with self.lock:
            found, self.requests = self.requests, []
        return found

    def close(self):
        """Ends, with all connections."""
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed by then
