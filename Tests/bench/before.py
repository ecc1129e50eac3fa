"""The executable to compare with: another build of this project, by its path, or made from a revision once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The last one that decoded pictures in its own process.
REVISION = "9db3bf4"


def executable() -> Path:
    """That AGAINST names: a file, or a revision of git, which is built into .cache/before-REVISION."""
    wanted = os.environ.get("AGAINST") or REVISION
    if Path(wanted).is_file():
        return Path(wanted).resolve()
    revision = subprocess.run(["git", "rev-parse", "--verify", "--quiet", "--short", f"{wanted}^{{commit}}"], cwd=ROOT,
                              capture_output=True, text=True).stdout.strip()
    if not revision:
        sys.exit(f"bench: AGAINST is {wanted!r}, neither a file nor a revision of this repository")
    place = ROOT / f".cache/before-{revision}"
    if not (place / "ziggurat").exists():
        make(revision, place)
    return (place / "ziggurat").resolve()


def make(revision: str, place: Path) -> None:
    work = Path(f"{place.resolve()}-work")
    print(f"building {revision} into {place.relative_to(ROOT)}", flush=True)

    def git(*arguments) -> None:
        subprocess.run(["git", *map(str, arguments)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    toolchain = subprocess.run([ROOT / "Tests/scripts/swift-toolchain"], capture_output=True, text=True, check=True).stdout.strip()
    if work.exists():
        git("worktree", "remove", "--force", work)
    git("worktree", "add", "--detach", work, revision)
    try:
        subprocess.run(["swift", "build", "-c", "release", "--product", "ziggurat"], cwd=work, check=True,
                       env={**os.environ, "PATH": f"{toolchain}:{os.environ['PATH']}"})
        partial = Path(f"{place}-partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        shutil.copy(work / ".build/release/ziggurat", partial)
        shutil.copytree(work / "public", partial / "public")
        shutil.rmtree(place, ignore_errors=True)
        partial.rename(place)
    finally:
        git("worktree", "remove", "--force", work)
