"""`make test`: runs every check, even after one fails, and ends with a summary. Exit code 1 if any failed."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
OUR_PYTHON = ("manage.py", "platform", "worker", "tests", "deploy")


@dataclass(frozen=True, slots=True)
class Check:
    """One command, run in `folder` below the root."""

    name: str
    argv: tuple[str, ...]
    folder: str = "."


LINT = (
    Check("ruff check", (str(BIN / "ruff"), "check", ".")),
    Check("ruff format", (str(BIN / "ruff"), "format", "--check", ".")),
    Check("import walls", (str(BIN / "lint-imports"),)),
)
TYPES = (Check("mypy", (str(BIN / "mypy"), *OUR_PYTHON)),)
DJANGO = (
    Check("django check", (sys.executable, "manage.py", "check", "--fail-level", "WARNING")),
    Check("migrations are complete", (sys.executable, "manage.py", "makemigrations", "--check", "--dry-run")),
)
FRONTEND = (
    Check("npm ci", ("npm", "ci", "--no-audit", "--no-fund"), "frontend"),
    Check("TypeScript", ("npm", "run", "--silent", "check"), "frontend"),
    Check("bundle builds", ("npm", "run", "--silent", "build"), "frontend"),
    Check("bundle is the committed one", ("git", "diff", "--exit-code", "--stat", "--", "frontend/dist")),
    Check("bundle has no stray file", ("sh", "-c", 'test -z "$(git status --porcelain -- frontend/dist)"')),
)
PYTEST = (Check("pytest", (sys.executable, "-m", "pytest", "-m", "not slow")),)
PYTEST_FULL = (Check("pytest, slow tests too", (sys.executable, "-m", "pytest")),)

GROUPS: dict[str, tuple[Check, ...]] = {
    "lint": LINT,
    "types": TYPES,
    "bundle": FRONTEND,
    "test": (*LINT, *TYPES, *DJANGO, *FRONTEND, *PYTEST),
    "test-full": (*LINT, *TYPES, *DJANGO, *FRONTEND, *PYTEST_FULL),
}


def run(check: Check, environment: dict[str, str]) -> tuple[bool, float]:
    """Whether the check passed, and its seconds."""
    print(f"\n=== {check.name}", flush=True)
    started = time.monotonic()
    try:
        code = subprocess.run(check.argv, cwd=ROOT / check.folder, env=environment, check=False).returncode
    except FileNotFoundError as error:
        print(f"{error.filename} is not installed", flush=True)
        code = 127
    return code == 0, time.monotonic() - started


def main(group: str) -> int:
    with tempfile.TemporaryDirectory(prefix="tandem-checks-") as var:
        environment = {
            **os.environ,
            # The checks must not see, nor make, a developer's data folder.
            "TANDEM_VAR": var,
            "SECRET_KEY": "only for checks",
            "PYTHONPATH": f"platform{os.pathsep}.",
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        }
        results = [(check, *run(check, environment)) for check in GROUPS[group]]
    print("\n=== summary")
    for check, passed, seconds in results:
        print(f"{'ok    ' if passed else 'FAILED'}  {seconds:7.1f} s  {check.name}")
    print(f"        {sum(seconds for _, _, seconds in results):7.1f} s  in all")
    return 0 if all(passed for _, passed, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
