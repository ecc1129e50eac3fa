"""A library with a public picture and two spaces, for the tests of sessions and of login attempts."""

import functools
import os
from pathlib import Path

from exiftool import write
from harness import folder, photo, run
from space_client import password

ONE, TWO = "the first of the passwords", "the second of the passwords"


def library() -> Path:
    """A public picture, and two spaces with a picture each; both are called the same."""
    return made_for(os.environ.get("LD_PRELOAD"))


@functools.cache
def made_for(keys: str | None) -> Path:
    """- keys: what stands before libsodium, which makes keys that nothing else finds."""
    made = folder("library")
    photos = {ONE: folder("one"), TWO: folder("two")}
    for number, (secret, photographs) in enumerate(photos.items()):
        path = photo(photographs / "family/grandmother.jpg", 1400, 900, left=900 * number)
        write(path, f"-Title=Lighthouse {number}")
        for arguments in (["space", "create", made], ["build", photographs, "--library", made, "--space", "--quiet"]):
            result = run(*arguments, "--password-file", password(secret))
            assert result.returncode == 0, result.stderr
    public = folder("public")
    photo(public / "harbour.jpg", 1400, 900, left=2500)
    assert run("build", public, "--library", made, "--quiet").returncode == 0
    return made
