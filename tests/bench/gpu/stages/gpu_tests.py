"""`tests/gpu` on this machine: a rate of an engine that computes wrong values means nothing."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.stage_runner import GpuBench

ROOT = Path(__file__).resolve().parents[4]
ONE_TEST_SECONDS = 30.0
"""The most that a test may still take when the stage's budget ends."""
LAST_CHARACTERS = 2000
"""Of the tests' output that an error shows."""
NUM_SHOWN = 5
"""The most failures whose names are listed."""


def run(bench: GpuBench) -> None:
    bench.measure("tests/gpu", partial(_row, bench))


def _row(bench: GpuBench) -> Row:
    """The counts of outcomes. A failed test makes the stage fail, a machine without a card skips them all. Raises
    `RuntimeError` with what they wrote last where they did not run, or one of them did not return."""
    results, left = bench.folder / "gpu_tests.xml", bench.seconds_left
    # The session ends between two tests, with the results of those that ran.
    limits = [f"--session-timeout={max(1.0, left)}", f"--junitxml={results}"]
    plugins = ["-p", "no:cacheprovider", "-p", "no:django"]
    # Each test is named as it begins.
    command = [sys.executable, "-u", "-m", "pytest", "tests/gpu", "-v", *plugins, *limits]
    try:
        ended = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=left + ONE_TEST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode(errors="replace")[-LAST_CHARACTERS:]
        raise RuntimeError(f"a test did not return within {ONE_TEST_SECONDS:.0f} s: {said}") from None
    if not results.exists():
        raise RuntimeError(f"the tests did not run: {ended.stdout[-LAST_CHARACTERS:]}{ended.stderr[-LAST_CHARACTERS:]}")
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    row: Row = {"passed": len(cases) - len(failed) - skipped, "failed": len(failed), "not_run": skipped}
    if "session-timeout" in ended.stdout:
        row["ended_early"] = "the stage's budget was used up"
    if failed:
        bench.has_failed = True
        row["failures"] = ", ".join(str(case.get("name")) for case in failed[:NUM_SHOWN])
        row["output"] = ended.stdout[-20_000:]
    return row
