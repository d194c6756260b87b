"""What Ray starts in place of a worker's interpreter, with real servers."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.engine.driving import ROOT
from worker.engine.forkserver.server_start import LAUNCH, SERVER

TELL = "import json, os, sys; print(json.dumps([sys.argv[1:], 'torch' in sys.modules, os.getppid()]))"
ON_RAY = """
import os, sys, psutil, ray
from tests.engine.driving import local_cluster
from tests.engine.forkserver.forking import until
from worker.engine.forkserver.server_start import LAUNCH, SERVER

@ray.remote(runtime_env={"py_executable": LAUNCH})
class Lane:
    def seen(self):
        return "torch" in sys.modules, os.getpid(), os.getppid()

with local_cluster(num_cpus=2, resources={}):
    lanes = [Lane.remote() for _ in range(2)]
    (first, second) = ray.get([lane.seen.remote() for lane in lanes], timeout=120)
    assert first[0] and second[0] and first[2] == second[2], (first, second)
    assert SERVER in psutil.Process(first[2]).cmdline()
    ray.kill(lanes[0])
    until(lambda: not psutil.pid_exists(first[1]))
    assert ray.get(lanes[1].seen.remote(), timeout=60) == second
"""
SECONDS = 60.0


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """Of a node whose server is in a folder of its own, and ends with the test. Ray's sockets want a short path."""
    folder = tempfile.mkdtemp(prefix="tf-", dir="/tmp")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    yield {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(ROOT), "PATH": path}
    for process in psutil.process_iter(["cmdline"]):
        if SERVER in (process.info["cmdline"] or ()):
            try:
                is_ours = process.environ().get("TMPDIR") == folder
            except psutil.Error:
                continue
            if is_ours:
                process.kill()
    shutil.rmtree(folder)


def launch(environment: dict[str, str], program: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program.write_text(TELL)
    command = [*LAUNCH.split(), str(program), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)


def test_where_no_server_may_be_trusted_the_process_becomes_the_program(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (Path(environment["TMPDIR"]) / f"tandem-fork-{os.getuid()}").symlink_to(tmp_path)
    ended = launch(environment, tmp_path / "program.py", "--rank", "1")
    assert json.loads(ended.stdout)[:2] == [["--rank", "1"], False]
    assert "must belong to user" in ended.stderr


@pytest.mark.ray
@pytest.mark.slow
def test_ray_workers_are_forked_and_end_one_by_one(environment: dict[str, str]) -> None:
    """In a process of its own, since each has one cluster."""
    ended = subprocess.run([sys.executable, "-c", ON_RAY], env=environment, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr[-4000:]
