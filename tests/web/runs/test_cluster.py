"""What a job brings to the cluster is all that it needs there."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from ray._private.runtime_env.packaging import create_package

from runs import cluster
from runs.cluster import RayCluster

AT_ONCE = """
import threading
from runs import cluster

at_once, errors = threading.Barrier(2), []

def first():
    at_once.wait()
    with cluster._ray_errors():
        pass

def second():
    at_once.wait()
    try:
        cluster.RayCluster().nodes()
    except cluster.ClusterUnavailable:
        pass

threading.excepthook = lambda failure: errors.append(failure.exc_value)
threads = [threading.Thread(target=call) for call in (first, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
"""
ON_THE_NODE = """
import sys
from pathlib import Path
import numpy as np
import worker
from worker.contracts.prompts import parse_prompts
from worker.engine.reward.shapes.shape_judge import ShapeJudge
from worker.engine.reward.shapes.captions import Caption
from worker.engine.reward.shapes.drawing import Placement, draw

assert Path(worker.__path__[0]).is_relative_to(Path.cwd()), worker.__path__
picture = draw(Caption("red", "circle"), Placement(16.0, 16.0, 9.0))
print(*ShapeJudge().score(np.stack([picture] * 2), parse_prompts(["a red circle", "a blue circle"])).scores)
"""


class JobsApi:
    """Keeps what was submitted."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []

    def submit_job(self, **job: Any) -> None:
        self.jobs.append(job)


@pytest.fixture
def unpacked_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a node has of a job's code: packed by Ray as its Jobs client packs it, and unpacked elsewhere."""
    api = JobsApi()
    monkeypatch.setattr(cluster, "_client", lambda: api)
    RayCluster().submit("a-job", {"NAME": "value"})
    (job,) = api.jobs
    assert job["entrypoint"].startswith("python -P -m worker.")
    (module,) = job["runtime_env"]["py_modules"]
    package = tmp_path / "package.zip"
    excludes = job["runtime_env"]["excludes"]
    create_package(module, package, include_gitignore=True, include_parent_dir=True, excludes=excludes)
    with ZipFile(package) as archive:
        archive.extractall(tmp_path / "node")
    return tmp_path / "node"


def on_the_node(upload: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(upload), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-P", *arguments], cwd=upload, env=environment, capture_output=True, text=True, check=False
    )


def test_a_job_waits_two_seconds_for_a_name_unless_it_is_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    api = JobsApi()
    monkeypatch.setattr(cluster, "_client", lambda: api)
    RayCluster().submit("a-job", {"NAME": "value"})
    RayCluster().submit("another", {"RES_OPTIONS": "timeout:3"})
    assert [job["runtime_env"]["env_vars"] for job in api.jobs] == [
        {"NAME": "value", "RES_OPTIONS": "timeout:1 attempts:2"},
        {"RES_OPTIONS": "timeout:3"},
    ]


def test_an_upload_holds_no_fixtures(unpacked_upload: Path) -> None:
    assert (unpacked_upload / "worker" / "engine" / "__main__.py").is_file()
    assert not (unpacked_upload / "worker" / "fixtures").exists()


def test_a_node_with_nothing_but_the_shipped_code_scores_pictures(unpacked_upload: Path) -> None:
    node = on_the_node(unpacked_upload, "-c", ON_THE_NODE)
    assert node.returncode == 0, node.stderr
    assert node.stdout.split() == ["1.0", "0.0"]


@pytest.mark.parametrize("entry", ["worker.engine", "worker.engine.preview", "worker.engine.gpu_test"])
def test_a_jobs_entry_starts_from_the_shipped_code_and_asks_for_its_environment(
    unpacked_upload: Path, entry: str
) -> None:
    node = on_the_node(unpacked_upload, "-m", entry)
    assert node.returncode != 0
    assert "`TANDEM_PUBLIC_URL` must be set" in node.stderr, node.stderr


def test_a_node_finds_every_deepspeed_configuration(unpacked_upload: Path) -> None:
    program = (
        "from worker.contracts.deepspeed import ZeroConfig\n"
        "from worker.engine.trainer.zero.deepspeed_config import FOLDER\n"
        "print('missing:', *[name for name in ZeroConfig if not (FOLDER / f'{name}.json').is_file()])"
    )
    node = on_the_node(unpacked_upload, "-c", program)
    assert node.returncode == 0, node.stderr
    assert node.stdout.splitlines()[-1] == "missing:"


def test_two_threads_that_first_need_ray_at_once_both_get_all_of_it() -> None:
    """Its modules import each other in circles: half imported, it would stay so for the life of the process."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "server.settings",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "RAY_ADDRESS": "http://127.0.0.1:9",
    }
    program = f"import django; django.setup()\n{AT_ONCE}"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
