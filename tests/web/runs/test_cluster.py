"""What a job brings to the cluster is all that it needs there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runs import cluster
from runs.cluster import RayCluster

ON_THE_NODE = """
import sys
from pathlib import Path
import numpy as np
import worker
from worker.engine.reward.shape_judge import ShapeJudge
from worker.shapes.captions import Caption
from worker.shapes.drawing import Placement, draw

assert Path(worker.__path__[0]).is_relative_to(Path.cwd()), worker.__path__
picture = draw(Caption("red", "circle"), Placement(16.0, 16.0, 9.0))
print(*ShapeJudge().score(np.stack([picture] * 2), ["a red circle", "a blue circle"]).scores)
"""


class JobsApi:
    """Keeps what was submitted."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []

    def submit_job(self, **job: Any) -> None:
        self.jobs.append(job)


def test_a_node_with_nothing_but_the_shipped_code_judges_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = JobsApi()
    monkeypatch.setattr(cluster, "_client", lambda: api)
    RayCluster().submit("a-job", {"NAME": "value"})
    (job,) = api.jobs
    assert job["entrypoint"].startswith("python -P -m worker.")
    for module in job["runtime_env"]["py_modules"]:
        left_out = shutil.ignore_patterns(*(Path(pattern).name for pattern in job["runtime_env"]["excludes"]))
        shutil.copytree(module, tmp_path / Path(module).name, ignore=left_out)

    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    node = subprocess.run(
        [sys.executable, "-P", "-c", ON_THE_NODE], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert node.returncode == 0, node.stderr
    assert node.stdout.split() == ["1.0", "0.0"]
