"""`make test`: runs every check, even after one fails, and ends with a summary. Exit code 1 if any failed.

The checks are sequences, each independent of the others; a few run at a time, and whichever ends first makes room for
the next. What a sequence prints is shown when it is done.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
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
CLIENT_OF_IT = ("deploy/client/tandem/rest_models", "deploy/client/tandem/synchronous")
SPECTACULAR = (sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--validate", "--fail-on-warn")
DIFF = ("git", "diff", "--exit-code", "--stat", "--")
CONTRACT = (
    Check("npm ci", ("npm", "ci", "--no-audit", "--no-fund"), "frontend"),
    Check("schema is written", (*SPECTACULAR, "--file", SCHEMA)),
    Check("types are written", ("npm", "run", "--silent", "contract"), "frontend"),
    Check("Python client is written", (sys.executable, "deploy/client/generate.py")),
    Check("schema, types and client are the committed ones", (*DIFF, SCHEMA, TYPES_OF_IT, *CLIENT_OF_IT)),
)
FRONTEND = (
    *CONTRACT,
    Check("frontend: format, lint, types, tests", ("npm", "run", "--silent", "check"), "frontend"),
    Check("bundle builds", ("npm", "run", "--silent", "build"), "frontend"),
    Check("bundle is the committed one", (*DIFF, "frontend/dist")),
    Check("bundle has no stray file", ("sh", "-c", 'test -z "$(git status --porcelain -- frontend/dist)"')),
)
AUDIT = (sys.executable, "deploy/make/dependency_audit.py")
NUM_AT_A_TIME = 3
"""Sequences that run at once: one more than the smallest machine has cores, since with two at once its cores were idle
for a third of the time (29 minutes of work in 25, measured on two cores)."""
ENGINE = ("tests/engine", "tests/fixtures", "tests/gpu")
"""Folders whose tests load torch."""
PURE = ("tests/architecture", "tests/contracts", "tests/node", "tests/scheduling")
"""Folders whose tests load neither torch nor Django."""


def all_checks(without: str = "") -> tuple[tuple[Check, ...], ...]:
    """The sequences of `make test` without tests of the marker `without`, the longest early. Tests that start the whole
    stack come late enough not to meet those that start Ray."""

    def pytest(name: str, *folders: str, marker: str = "") -> tuple[Check, ...]:
        expression = " and ".join(filter(None, (marker, without and f"not {without}")))
        return (Check(f"pytest: {name}", (sys.executable, "-m", "pytest", "-m", expression, *folders)),)

    return (
        # Two processes, since each has a Ray cluster of its own for the whole of it.
        (*pytest("engine on Ray", *ENGINE, marker="ray"), *pytest("nodes on Ray", "tests/node", marker="ray")),
        (*LINT, *TYPES, *DJANGO, *FRONTEND),
        pytest("engine in one process", *ENGINE, marker="not ray"),
        pytest("web and client", "tests/web", "tests/client"),
        pytest("browser", "tests/e2e"),
        pytest("contracts, scheduling and nodes", *PURE, marker="not ray"),
    )


GROUPS: dict[str, tuple[tuple[Check, ...], ...]] = {
    "lint": (LINT,),
    "types": (TYPES,),
    "contract": (CONTRACT,),
    "bundle": (FRONTEND,),
    "test": all_checks(without="slow"),
    "test-full": (*all_checks(), (Check("dependency audit", (*AUDIT, "--offline-ok")),)),
    "audit": ((Check("dependency audit", AUDIT),),),
}


@dataclass(frozen=True, slots=True)
class Result:
    check: Check
    passed: bool
    seconds: float


def run(check: Check, environment: dict[str, str], output: IO[bytes]) -> Result:
    """Run one check with its output in a file."""
    output.write(f"\n=== {check.name}\n".encode())
    output.flush()
    started = time.monotonic()
    try:
        code = subprocess.run(
            check.argv, cwd=ROOT / check.folder, env=environment, stdout=output, stderr=output, check=False
        ).returncode
    except FileNotFoundError as error:
        output.write(f"{error.filename} is not installed\n".encode())
        code = 127
    return Result(check, code == 0, time.monotonic() - started)


def run_all(sequences: tuple[tuple[Check, ...], ...], environment: dict[str, str]) -> list[Result]:
    """Run the sequences, `NUM_AT_A_TIME` of them at once, and print the output of each in one piece."""
    printing = threading.Lock()

    def run_sequence(checks: tuple[Check, ...]) -> list[Result]:
        with printing:
            print(f"... {checks[0].name}", *(["and what follows it"] if len(checks) > 1 else []), flush=True)
        with tempfile.TemporaryFile() as output:
            results = [run(check, environment, output) for check in checks]
            output.seek(0)
            with printing:
                shutil.copyfileobj(output, sys.stdout.buffer)
                sys.stdout.buffer.flush()
        return results

    with ThreadPoolExecutor(NUM_AT_A_TIME) as threads:
        return [result for results in threads.map(run_sequence, sequences) for result in results]


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
            # Several sequences share the cores; a pool of threads in each process would only take them from the others.
            "OMP_NUM_THREADS": "1",
            # Properties are tried with more examples (`tests/slow_params.py`).
            "TANDEM_TEST_FULL": "1" if group == "test-full" else "",
        }
        results = run_all(GROUPS[group], environment)
    print("\n=== summary")
    for result in results:
        print(f"{'ok    ' if result.passed else 'FAILED'}  {result.seconds:7.1f} s  {result.check.name}")
    print(f"        {time.monotonic() - started:7.1f} s  in all")
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
