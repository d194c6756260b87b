"""Secrets of a real stack with a real run: in no file but their own, no answer, and no environment of the cluster."""

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from server.embedded.folders import runtime_folder
from tests.e2e.rest import START_SECONDS, Rest
from tests.e2e.stack import Stack, running_stack
from tests.engine.reward.remote.conftest import start_server
from tests.secret_search import holds

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]
RUN_SECONDS = 600.0
RUN_NAME = "with secrets"
"""No secret: that it is found where it should be shows that the search reads what it says."""
OWN_FILES = ("admin-password", "ray-token")
"""Files of the data folder that are there to keep a secret, for their owner alone."""
WEB = ("uvicorn", "celery", "manage.py", "mirrors.backends")
"""What the commands of the web's own processes hold."""
OF_LANES = ("hub",)
"""Secrets that jobs need: lanes load models by the hub's token."""
READ = (
    *("", "/events", "/logs", "/plan", "/timeline", "/samples", "/attempts", "/commands", "/transitions", "/report"),
    *("/metrics", "/trace", "/stream", "/adapters", "/checkpoints", "/lineage", "/mirrors"),
)

Place = TypeVar("Place")
Planted = dict[str, str]


@pytest.fixture
def planted() -> Planted:
    """Secrets by where they were planted."""
    names = ("secret_key", "smtp", "tracing", "wandb", "mlflow", "provider", "hub", "scorer", "mirror")
    return {name: f"canary-{name}-{secrets.token_hex(8)}" for name in names}


@pytest.fixture
def stack(tmp_path: Path, planted: Planted) -> Iterator[Stack]:
    providers = tmp_path / "providers.yaml"
    (tmp_path / "firm.secret").write_text(planted["provider"])
    provider = {"id": "firm", "name": "Firm", "issuer": "https://id.example", "client_id": "tandem"}
    providers.write_text(json.dumps([provider | {"client_secret_file": "firm.secret"}]))
    settings = {
        "SECRET_KEY": planted["secret_key"],
        "EMAIL_URL": f"smtp://tandem:{planted['smtp']}@127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_HEADERS": f"api-key={planted['tracing']}",
        "WANDB_API_KEY": planted["wandb"],
        "MLFLOW_TRACKING_PASSWORD": planted["mlflow"],
        "HF_TOKEN": planted["hub"],
        "TANDEM_OIDC_PROVIDERS": str(providers),
        "TANDEM_SCORER_HOSTS": "127.0.0.1",
    }
    folder = tmp_path / "var"
    folder.mkdir()
    with running_stack(folder, **settings) as running:
        yield running


@pytest.fixture
def scorer(planted: Planted) -> Iterator[str]:
    """The address of a reward server that answers only to the planted token."""
    process, url = start_server(token=planted["scorer"])
    yield url
    process.terminate()
    process.wait(10)


def start(rest: Rest, scorer: str, planted: Planted) -> str:
    """Enter secrets over REST, and start a run that is scored by one of them."""
    project = rest.results("/projects")[0]["id"]
    host = scorer.removeprefix("http://").partition("/")[0]
    rest.post("/secrets", project=project, name="scorer", host=host, value=planted["scorer"])
    mirror = {"name": "away", "kind": "mlflow", "address": "https://mlflow.example", "place": "runs"}
    made = rest.client.post("/mirrors", json={"project": project, **mirror, "credential": planted["mirror"]})
    # Where the package is not installed, mirrors of its kind are refused.
    assert made.status_code in (201, 400), made.text
    hook = {"name": "chat", "address": "https://chat.example/hook", "events": ["run.completed"]}
    planted["webhook"] = rest.post("/webhooks", project=project, **hook)["secret"]
    planted["API token"] = rest.post("/tokens", name="another")["token"]
    spec = rest.preset("shapes-quick")
    spec["rewards"] += [{"name": "remote", "watched": True, "settings": {"url": scorer, "secret": "scorer"}}]
    return rest.start_run(RUN_NAME, {**spec, "num_batches": 2})


def cluster_processes(var: Path) -> Iterator[psutil.Process]:
    """The processes of the stack's Ray cluster: head, drivers, actors."""
    marks = (str(var), str(runtime_folder(var)))
    for process in psutil.process_iter():
        try:
            command = " ".join(process.cmdline())
            is_ours = any(mark in value for value in process.environ().values() for mark in marks)
        except psutil.Error:
            continue
        is_of_cluster = "ray" in command or "worker.engine" in command
        if is_ours and is_of_cluster and process.pid != os.getpid() and not any(word in command for word in WEB):
            yield process


def files(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.name not in OWN_FILES:
                try:
                    yield path, path.read_bytes()
                except FileNotFoundError:
                    continue


def found_in(
    places: Iterable[tuple[Place, bytes]], planted: Planted, is_wanted: Callable[[str], bool] = lambda name: True
) -> list[tuple[str, str]]:
    """Which of the wanted secrets is where."""
    wanted = {name: secret for name, secret in planted.items() if is_wanted(name)}
    return [(name, str(place)) for place, text in places for name, secret in wanted.items() if holds(text, secret)]


def test_no_secret_of_a_stack_leaves_its_place(stack: Stack, rest: Rest, scorer: str, planted: Planted) -> None:
    planted["admin's password"] = stack.password
    run = start(rest, scorer, planted)
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)
    environments = [
        (" ".join(process.cmdline())[:80], json.dumps(process.environ()).encode())
        for process in cluster_processes(stack.var)
    ]
    assert len(environments) >= 4, "head, driver and lanes"
    assert found_in(environments, planted, lambda name: name not in OF_LANES) == []
    assert found_in(environments, planted, lambda name: name in OF_LANES), "environments were read"

    rest.run_when(run, lambda body: body["state"] == "completed", "completed", RUN_SECONDS)
    assert rest.get(f"/runs/{run}/metrics?keys=reward/part/remote")["series"], "the scorer was called with its token"
    answers = [(path, rest.client.get(f"/runs/{run}{path}").content) for path in READ]
    answers += [(path, rest.client.get(path).content) for path in ("/audit", "/metrics", "/secrets", "/webhooks")]
    assert found_in(answers, planted) == []
    assert holds(answers[0][1], RUN_NAME)

    stored = list(files(stack.var, runtime_folder(stack.var)))
    assert found_in(stored, planted) == []
    with_name = {path.parts for path, text in stored if holds(text, RUN_NAME)}
    assert any("postgres" in parts for parts in with_name), "the files of the database were searched"
    assert len(stored) > 100
