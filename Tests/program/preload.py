"""Libraries in front of the C libraries (LD_PRELOAD): to count a program's calls, or to inject failures."""

import os
import shutil
import subprocess
from pathlib import Path

from harness import folder


def preloaded(source: Path) -> str:
    """Compiles a file of C; what LD_PRELOAD takes, with what stands there already."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))))
    library = folder("preload") / f"{source.stem}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return ":".join(filter(None, (str(library), os.environ.get("LD_PRELOAD"))))
