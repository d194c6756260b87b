"""Stands for the bench's stage process in the tests of its supervisor: it has no device, and ends as its stage says."""

import os
import signal
import sys
from pathlib import Path

from tests.bench.gpu.bench_report import BenchReport

KILLED = "ceilings"
"""The stage in which this process is killed, as the kernel does where memory is short."""


def main(path: Path, stages: list[str]) -> None:
    report = BenchReport.read(path) if path.exists() else BenchReport.new(path, {"is_measurement": False})
    for name in stages:
        report.begin(name, name, 1.0)
        report.row(name, {"case": "first", "seconds": 1.0})
        if name == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        report.end(name, "done", 0.0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[3:])
