"""The GPU bench as a command: a stage whose process dies, a machine without Django and Ray, every stage at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.stage_budgets import BUDGETS
from tests.bench.gpu.supervisor import supervise

ROOT = Path(__file__).resolve().parents[3]
ABSENT = """
import sys
sys.modules.update(dict.fromkeys(("django", "ray", "celery", "rest_framework")))
"""
"""`sitecustomize.py`: importing one of these fails in every process, as where they are not installed."""


def test_a_stage_whose_process_dies_keeps_its_rows_and_the_next_runs_in_a_fresh_one(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    supervise(path, ["ceilings", "forward"], minutes=1, module="tests.engine.gpu_bench.dying_stages")
    died, after = BenchReport.read(path).stages.values()
    assert (died["status"], after["status"]) == ("killed", "done")
    assert died["why"] == "its process ended with -9" and died["rows"][0]["seconds"] == 1.0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_stages_run_on_tiny_shapes_without_django_and_ray(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(ABSENT)
    environment = os.environ | {"OUT": str(tmp_path), "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.bench.gpu", "--minutes", "14"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    report = BenchReport.read(tmp_path / "gpu.json")
    errors = [row for stage in report.stages.values() for row in stage["rows"] if "error" in row]
    assert (ended.returncode, errors) == (0, []), ended.stderr[-4000:]
    assert {name: stage["status"] for name, stage in report.stages.items()} == dict.fromkeys(BUDGETS, "done")
    assert (report.document["device"], report.document["shapes"]) == ("cpu", "tiny")
    assert "NO MEASUREMENT" in ended.stdout and "plan against measurement" in ended.stdout
    through_ray = report.stages["transport"]["rows"][-1]
    assert through_ray["skipped"] == "ray is not installed"
