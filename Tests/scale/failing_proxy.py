"""A proxy between a program and its store: passes requests on unchanged, and rejects a share of them with 503 while this is enabled.

Signatures hold, since the store gets the Host that the program named.
"""

import collections
import http.client
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FailingProxy:
    def __init__(self, store: int, chance: random.Random):
        # Of questions that are refused, 0...1.
        self.share = 0.0
        self.chance = chance
        # What came of the questions.
        self.counts: collections.Counter[str] = collections.Counter()
        self.lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                self.store = http.client.HTTPConnection("127.0.0.1", store, timeout=30)

            def finish(self):
                self.store.close()
                super().finish()

            def log_message(self, *_):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if proxy.refuses():
                    self.send_response(503)
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                try:
                    self.store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        if name.lower() not in ("connection", "expect"):
                            self.store.putheader(name, value)
                    self.store.endheaders(body)
                    answer = self.store.getresponse()
                    content = answer.read()
                except (OSError, http.client.HTTPException):
                    # It is away: so is the connection.
                    proxy.count("away")
                    self.store.close()
                    self.close_connection = True
                    return
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                        self.send_header(name, value)
                length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
                self.send_header("Content-Length", str(length or 0))
                self.end_headers()
                self.wfile.write(content)
                proxy.count("passed")

            do_GET = do_PUT = do_DELETE = do_HEAD = do_POST = pass_on

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, *_):
                pass  # A client that was killed has gone.

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def refuses(self) -> bool:
        with self.lock:
            refuses = self.chance.random() < self.share
            self.counts["refused"] += refuses
            return refuses

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
