"""OpenSeadragon as released, for what is measured and tried against it: the one that the source distribution of
openslide-python on PyPI ships."""

import subprocess
import tarfile
from pathlib import Path

import material


def minified() -> Path:
    """The library in one script, minified by esbuild."""
    def make(path: Path) -> None:
        with tarfile.open(material.distribution("openslide-python==1.4.7", "--no-binary=:all:")) as files:
            script = next(each for each in files.getmembers() if each.name.endswith("/static/openseadragon.js"))
            source = files.extractfile(script).read()
        print(source.split(b"\n", 1)[0].decode().removeprefix("//! "), flush=True)
        path.write_bytes(subprocess.run(["esbuild", "--minify"], input=source, capture_output=True, check=True).stdout)

    return material.made("openseadragon.min.js", make)
