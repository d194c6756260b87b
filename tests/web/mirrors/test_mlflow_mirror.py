"""A run in MLflow: a real tracking server on a database of its own, read back by MLflow's own client."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.models import Mirror, MirrorKind
from mirrors.models import MirroringState
from runs.transitions import move
from tests.e2e.stack import free_port
from tests.web.mirrors.conftest import Driver, MakeMirror, Points, round_killed_when, round_now, stored_points
from worker.contracts.states import RunState

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an MLflow server with an SQLite database."""
    folder, port = tmp_path_factory.mktemp("mlflow"), free_port()
    argv = [
        *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder / "artifacts")),
    ]
    with (folder / "server.log").open("wb") as log:
        environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        process = subprocess.Popen(argv, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{url}/health", timeout=2)
                break
            except OSError:
                assert process.poll() is None, (folder / "server.log").read_text()[-2000:]
                time.sleep(0.1)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def client(server: str) -> Any:
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=server)


@pytest.fixture
def mirror(server: str, make_mirror: MakeMirror, settings: Any) -> Mirror:
    settings.TANDEM_MIRROR_HOSTS = ["127.0.0.1"]
    return make_mirror(MirrorKind.MLFLOW, address=server, place=f"Shapes {time.monotonic_ns()}", credential="tok")


def found_run(client: Any, mirror: Mirror) -> Any:
    (run,) = client.search_runs([client.get_experiment_by_name(mirror.place).experiment_id])
    return run


def points(client: Any, run: Any) -> tuple[Points, int]:
    """Those of the run, and how many it holds, repeats counted."""
    every = [metric for key in run.data.metrics for metric in client.get_metric_history(run.info.run_id, key)]
    return {(metric.key, metric.step, metric.value) for metric in every}, len(every)


def test_a_run_is_on_the_server_as_it_is_stored_and_a_killed_session_doubles_nothing(
    driver: Driver, mirror: Mirror, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.train(1, 2)
    row = round_now()
    assert row.error == ""
    run = found_run(client, mirror)
    assert row.url == f"{mirror.address}/#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}"
    assert run.data.tags["tandem.run"] == driver.run.pk.hex
    assert run.data.params["batch.group_size"] == str(driver.run.spec["batch"]["group_size"])

    driver.train(3)
    contents = driver.upload(driver.sample(3))
    row = round_killed_when(lambda: len(images(client, run)) == 4, monkeypatch)
    assert (row.batch, row.num_failures) == (2, 1)
    assert points(client, found_run(client, mirror))[1] == 6
    driver.train(4)
    move(driver.run.pk, [RunState.RUNNING], RunState.COMPLETED, reason="all done", actor="driver")
    row = round_now()
    assert (row.state, row.num_pictures_left_out) == (MirroringState.DONE, 0)

    run, wanted = found_run(client, mirror), stored_points(driver.run)
    assert points(client, run) == (wanted, len(wanted))
    assert run.info.status == "FINISHED"
    whole = [path for path in images(client, run) if path.endswith(".png")]
    assert len(images(client, run)) == 4
    stored = [Path(client.download_artifacts(run.info.run_id, path)).read_bytes() for path in whole]
    assert sorted(stored) == sorted(contents)


def images(client: Any, run: Any) -> list[str]:
    return [found.path for found in client.list_artifacts(run.info.run_id, "images")]


def test_a_server_that_names_another_place_for_files_is_given_none(
    driver: Driver, mirror: Mirror, client: Any, tmp_path: Path
) -> None:
    """It might name a folder of the platform's own machine."""
    client.create_experiment(mirror.place, artifact_location=f"file://{tmp_path / 'taken'}")
    driver.train(1)
    driver.upload(driver.sample(1))
    row = round_now()
    assert (row.error, row.num_pictures_left_out) == ("", 2)
    run = found_run(client, mirror)
    assert points(client, run)[0] == stored_points(driver.run)
    assert not (tmp_path / "taken").exists()


def test_a_server_on_a_host_that_is_allowed_no_more_is_sent_nothing(
    driver: Driver, mirror: Mirror, client: Any, settings: Any
) -> None:
    settings.TANDEM_MIRROR_HOSTS = []
    driver.train(1)
    row = round_now()
    assert "TANDEM_MIRROR_HOSTS" in row.error
    assert client.get_experiment_by_name(mirror.place) is None
