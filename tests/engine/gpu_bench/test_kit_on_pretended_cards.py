"""The kit's own command on two pretended cards: its supervisor, the process of its stages, the ranks of its gangs and
the second process on a card each see pretended cards, as they would see real ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.gpu.trainer_ranks import CASES
from tests.engine.pretend_accelerator import NUM_CARDS
from tests.engine.run_on_pretend_card import PYTHON, SCRIPT

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("stages", "num_rows"), [(["shared_card", "spread"], 2), (["ranks"], len(CASES))], ids=["two processes", "ranks"]
)
def test_every_case_of_stages_with_processes_of_their_own_is_measured(
    tmp_path: Path, stages: list[str], num_rows: int
) -> None:
    into = ["--minutes", "14", "--out", str(tmp_path / "gpu.json")]
    command = [str(SCRIPT), "-m", "tests.bench.gpu", "--only", *stages, *into]
    environment = os.environ | {PYTHON: sys.executable, NUM_CARDS: "2", "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=880, check=False)
    assert ended.returncode == 0, (ended.stdout + ended.stderr)[-6000:]
    report = json.loads((tmp_path / "gpu.json").read_text())
    assert (report["device"], report["num_devices"]) == ("Pretend Card 0", 2)
    rows = [row for stage in report["stages"].values() for row in stage["rows"]]
    assert len(rows) == num_rows and all("seconds_taken" in row for row in rows)
