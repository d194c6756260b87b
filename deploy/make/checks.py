"""`make test`: runs every check, even after one fails, and ends with a summary. Exit code 1 if any failed.

Two sequences of checks run in parallel, since the smallest machine has two cores: one prints its output as it comes,
the output of the other follows when both are done.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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
SCHEMA, TYPES_OF_IT = "frontend/openapi.json", "frontend/src/api/schema.ts"
SPECTACULAR = (sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--validate", "--fail-on-warn")
DIFF = ("git", "diff", "--exit-code", "--stat", "--")
CONTRACT = (
    Check("npm ci", ("npm", "ci", "--no-audit", "--no-fund"), "frontend"),
    Check("schema is written", (*SPECTACULAR, "--file", SCHEMA)),
    Check("types are written", ("npm", "run", "--silent", "contract"), "frontend"),
    Check("schema and types are the committed ones", (*DIFF, SCHEMA, TYPES_OF_IT)),
)
FRONTEND = (
    *CONTRACT,
    Check("frontend: format, lint, types, tests", ("npm", "run", "--silent", "check"), "frontend"),
    Check("bundle builds", ("npm", "run", "--silent", "build"), "frontend"),
    Check("bundle is the committed one", (*DIFF, "frontend/dist")),
    Check("bundle has no stray file", ("sh", "-c", 'test -z "$(git status --porcelain -- frontend/dist)"')),
)
MODEL_TESTS = ("tests/engine", "tests/fixtures", "tests/gpu", "tests/e2e")
"""Tests that load torch; all others run in parallel with them."""
WEB_TESTS = ("tests/architecture", "tests/contracts", "tests/scheduling", "tests/web")


def pytest(name: str, *arguments: str) -> Check:
    return Check(f"pytest: {name}", (sys.executable, "-m", "pytest", *arguments))


FIRST = (*LINT, *TYPES, *DJANGO, *FRONTEND)
GROUPS: dict[str, tuple[tuple[Check, ...], ...]] = {
    "lint": (LINT,),
    "types": (TYPES,),
    "contract": (CONTRACT,),
    "bundle": (FRONTEND,),
    "test": (
        (*FIRST, pytest("web and scheduling", "-m", "not slow", *WEB_TESTS)),
        (pytest("engine and browser", "-m", "not slow", *MODEL_TESTS),),
    ),
    "test-full": (
        (*FIRST, pytest("web and scheduling, slow too", *WEB_TESTS)),
        (pytest("engine and browser, slow too", *MODEL_TESTS),),
    ),
}


@dataclass(frozen=True, slots=True)
class Result:
    check: Check
    passed: bool
    seconds: float


def run(check: Check, environment: dict[str, str], output: IO[bytes] | None) -> Result:
    """Run one check; its output goes to `output`, or to the terminal."""
    heading = f"\n=== {check.name}\n".encode()
    sink = output or sys.stdout.buffer
    sink.write(heading)
    sink.flush()
    started = time.monotonic()
    try:
        code = subprocess.run(
            check.argv, cwd=ROOT / check.folder, env=environment, stdout=output, stderr=output, check=False
        ).returncode
    except FileNotFoundError as error:
        sink.write(f"{error.filename} is not installed\n".encode())
        code = 127
    return Result(check, code == 0, time.monotonic() - started)


def run_in_sequence(checks: tuple[Check, ...], environment: dict[str, str], output: IO[bytes] | None) -> list[Result]:
    return [run(check, environment, output) for check in checks]


def run_beside(lines: tuple[tuple[Check, ...], ...], environment: dict[str, str], folder: Path) -> list[Result]:
    """Run the first sequence on the terminal, and each other into a file that is printed when all are done."""
    outputs = [None, *((folder / f"line-{number}").open("wb") for number in range(1, len(lines)))]
    with ThreadPoolExecutor(len(lines)) as threads:
        results = list(threads.map(run_in_sequence, lines, [environment] * len(lines), outputs))
    for output in filter(None, outputs):
        output.close()
        sys.stdout.buffer.write(Path(output.name).read_bytes())
    return [result for line in results for result in line]


def main(group: str) -> int:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tandem-checks-") as folder:
        environment = {
            **os.environ,
            # The checks must neither read nor create a developer's data folder.
            "TANDEM_VAR": str(Path(folder) / "var"),
            "SECRET_KEY": "only for checks",
            "PYTHONPATH": f"platform{os.pathsep}.",
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        }
        results = run_beside(GROUPS[group], environment, Path(folder))
    print("\n=== summary")
    for result in results:
        print(f"{'ok    ' if result.passed else 'FAILED'}  {result.seconds:7.1f} s  {result.check.name}")
    print(f"        {time.monotonic() - started:7.1f} s  in all")
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
