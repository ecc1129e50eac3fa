"""A client of uploads by tus 1.0 against a server that takes them."""

import base64
import json
import time
import zipfile
from pathlib import Path

from harness import Answer, Server, folder

TOKEN = "token-of-the-tests-0123456789"
TYPE = "application/offset+octet-stream"


def token_file() -> Path:
    path = folder("token") / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


def serve(library: Path, *options) -> Server:
    return Server(library, "--writable", "--token-file", token_file(), *options)


def metadata(**values: str | bytes) -> str:
    return ",".join(f"{key} {base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()}"
                    for key, value in values.items())


class Client:
    """A client of one server; a fresh connection for every request."""

    def __init__(self, server: Server):
        self.server = server

    def ask(self, method: str, path: str, body: bytes = b"", *, token: str | None = TOKEN, tus: bool = True, **headers) -> Answer:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += ["Tus-Resumable: 1.0.0"] if tus else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if method in ("POST", "PATCH") and "Transfer_Encoding" not in headers:
            lines.append(f"Content-Length: {len(body)}")
        return Answer(self.server.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body), method)

    def create(self, length: int, **values) -> Answer:
        return self.ask("POST", "/api/uploads", Upload_Length=length, Upload_Metadata=metadata(**values))

    def patch(self, path: str, offset: int, data: bytes) -> Answer:
        return self.ask("PATCH", path, data, Upload_Offset=offset, Content_Type=TYPE)

    def send(self, data: bytes, **values) -> tuple[Answer, str]:
        """Creates an upload and sends all of it."""
        made = self.create(len(data), **values)
        assert made.status == 201, made
        # Without the address that the server goes by.
        path = "/api/uploads/" + made["location"].split("/")[-1]
        return self.patch(path, 0, data), path

    def state(self, path: str) -> dict:
        return json.loads(self.ask("GET", path).body)

    def end(self, path: str, seconds: float = 60) -> dict:
        """What became of an upload."""
        until = time.monotonic() + seconds
        while (state := self.state(path))["status"] not in ("done", "failed"):
            assert time.monotonic() < until, state
            time.sleep(0.05)
        return state

    def images(self) -> set[str]:
        return {image["id"] for image in json.loads(self.server.get("/api/images?limit=1000").body)["images"]}


def tiles(archive: Path) -> dict[str, int]:
    """The checksums of an archive's tiles by their places."""
    with zipfile.ZipFile(archive) as file:
        return {entry.filename.split("_files/")[1]: entry.CRC for entry in file.infolist() if "_files/" in entry.filename}


def rest_of(library: Path) -> list[str]:
    """What is left of uploads in a library, but for the memory of how they ended."""
    return [str(path) for path in (library / ".ziggurat-uploads").rglob("*") if path.name not in (".lock", ".ended")]
