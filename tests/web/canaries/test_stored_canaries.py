"""A secret that is entered or given out is found nowhere that the web stores, logs or answers.

Wherever a secret is entered, one is planted; then a dump of the database, which is what a backup holds, the artifact
storage, the broker, the log, and what the API and the pages answer are searched for each.
"""

import base64
import logging
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from accounts.secrets import hash_secret
from accounts.sign_in.sign_in_links import make_sign_in_link
from fleet.reports import node_agents
from live.broker import broker
from runs.attempts.bootstrap import trade_code
from runs.models import Attempt
from server.backup.dumps import tool
from server.backup.taking_backups import take_backup
from server.embedded.ports import RayPorts
from server.embedded.ray_head import RayHead
from tests.secret_search import holds
from tests.web.conftest import MakeRun, small_spec
from tests.web.dashboard.authenticator_app import set_up
from worker.contracts.private_variables import PRIVATE_VARIABLES
from worker.node.join import environment

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
Plant = Callable[[str], str]


@pytest.fixture
def planted() -> dict[str, str]:
    """Where a canary was planted, and its text."""
    return {}


@pytest.fixture
def canary(planted: dict[str, str]) -> Plant:
    def make(where: str) -> str:
        planted[where] = f"canary-{where.replace(' ', '-')}-7f3a"
        return planted[where]

    return make


@pytest.fixture
def api(alice: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(alice)
    return client


@pytest.fixture
def answers() -> list[bytes]:
    """What was answered after the secrets were planted."""
    return []


def enter_by_rest(api: APIClient, project: Project, canary: Plant, planted: dict[str, str]) -> None:
    """By REST: what is entered, and what is given out once."""
    of_project = {"project": str(project.pk)}
    key = {"name": "scorer", "host": "scorer.example", "value": canary("key of a scorer")}
    assert api.post("/api/v1/secrets", of_project | key).status_code == 201
    mirror = {"name": "board", "kind": "wandb", "place": "shapes", "credential": canary("key of a mirror")}
    assert api.post("/api/v1/mirrors", of_project | mirror).status_code == 201
    hook = {"name": "chat", "address": "https://chat.example/hook", "events": ["run.failed"]}
    made = api.post("/api/v1/webhooks", of_project | hook).json()
    planted["secret of a webhook"] = made["secret"]
    rotated = api.post(f"/api/v1/webhooks/{made['id']}/rotate-secret", {}).json()
    planted["rotated secret of a webhook"] = rotated["secret"]
    repeated = {"Idempotency-Key": "nightly"}
    planted["API token"] = api.post("/api/v1/tokens", {"name": "ci"}, headers=repeated).json()["token"]
    script = api.post("/api/v1/service-accounts", of_project | {"name": "ci"}).json()["id"]
    planted["token of a service account"] = api.post(f"/api/v1/service-accounts/{script}/tokens", {}).json()["token"]


def enter_by_pages(person: User, canary: Plant, planted: dict[str, str]) -> None:
    """By the pages: passwords, right and wrong, in the wrong field too; a second factor."""
    client = Client(REMOTE_ADDR="198.19.250.1")
    form = {"username": person.username, "password": canary("wrong password")}
    assert client.post("/login", form).status_code == 200
    assert client.post("/login", {"username": canary("password as user name"), "password": "x"}).status_code == 200
    client.force_login(person)
    new = canary("new password")
    changed = {"old_password": "correct horse", "new_password1": new, "new_password2": new}
    assert client.post("/account/password", changed).status_code == 302
    person.refresh_from_db()
    person.set_password("correct horse")
    person.save()
    client.force_login(person)
    planted["seed of an authenticator"], codes = set_up(client)
    planted |= {f"recovery code {number}": code for number, code in enumerate(codes)}
    planted["sign-in link"] = make_sign_in_link(account=person)
    planted["session"] = str(client.session.session_key)


def give_to_jobs(make_run: MakeRun, project: Project, canary: Plant, planted: dict[str, str]) -> None:
    """Codes and tokens of drivers and node agents, and the scorer's key on its way to a driver."""
    url = "https://scorer.example/score"
    rewards = [{"name": "remote", "settings": {"url": url, "secret": "scorer"}}]
    run = make_run(project=project, spec=small_spec(rewards=rewards), state="starting", attempt=1)
    code = canary("code of a driver")
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        bootstrap_code_hash=hash_secret(code),
        bootstrap_expires_at=timezone.now() + timedelta(minutes=5),
    )
    answer = trade_code(f"{attempt.pk}.{code}")
    assert answer.scorer_access.tokens == {"scorer": planted["key of a scorer"]}
    planted["run token"] = answer.token
    assert not any(secret in repr(answer) for secret in (answer.token, planted["key of a scorer"]))
    _, agent_code = node_agents.new_agent()
    planted["code of a node agent"] = agent_code.partition(".")[2]
    planted["token of a node agent"] = node_agents.trade_code(agent_code).token


def provoke_errors(planted: dict[str, str], answers: list[bytes]) -> None:
    """Send secrets where they do not belong, and keep what is answered."""
    client = Client(REMOTE_ADDR="198.19.250.2")
    for secret in planted.values():
        bearer = {"Authorization": f"Bearer {secret}x"}
        answers.append(client.get("/api/v1/runs", headers=bearer).content)
        answers.append(
            client.post("/api/ingest/v1/bootstrap", {"code": secret}, content_type="application/json").content
        )
        answers.append(client.get("/login/link/" + secret + "x").content)


def stored(folder: Path) -> Iterator[tuple[str, bytes]]:
    """What a backup holds, with the dump as SQL; and the broker's keys and values."""
    take_backup(folder, say=lambda said: None)
    sql = subprocess.run([tool("pg_restore"), "--file=-", str(folder / "database.dump")], capture_output=True)
    assert sql.returncode == 0
    yield "the database", sql.stdout
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "database.dump":
            yield f"the backup's {path.name}", path.read_bytes()
    for key in broker().scan_iter("*"):
        yield f"the broker's {key}", broker().dump(key) or b""


def test_no_secret_that_is_entered_is_found_in_what_is_stored_logged_or_answered(
    *,
    api: APIClient,
    alice: User,
    make_user: Callable[..., User],
    make_run: MakeRun,
    project: Project,
    canary: Plant,
    planted: dict[str, str],
    answers: list[bytes],
    tmp_path: Path,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path / 'artifacts'}"
    cache.clear()
    caplog.set_level(logging.DEBUG)
    enter_by_rest(api, project, canary, planted)
    enter_by_pages(make_user("person"), canary, planted)
    give_to_jobs(make_run, project, canary, planted)
    provoke_errors(planted, answers)
    for path in ("audit", "secrets", "mirrors", "webhooks", "tokens", "service-accounts", "runs", "metrics", "me"):
        answers.append(api.get(f"/api/v1/{path}").content)
    said = capfd.readouterr()
    places = [*stored(tmp_path / "backup"), ("the log", caplog.text.encode()), ("the output", str(said).encode())]
    places += [("an answer", answer) for answer in answers]
    found = [(where, place) for where, secret in planted.items() for place, text in places if holds(text, secret)]
    assert found == []
    assert len(planted) > 20


def test_the_search_finds_what_it_should() -> None:
    assert holds(b'{"password": "hunter2"}', "hunter2") and holds(b"x" + base64.b64encode(b"hunter2"), "hunter2")
    assert holds(b"code 12345678.", "12345678") is False and holds(b"code 12345678,", "12345678")


@pytest.mark.parametrize("file", ["deploy/systemd/tandem-web.service", "deploy/compose/Dockerfile"])
def test_the_server_logs_no_addresses_which_hold_tokens_of_sockets_and_sign_in_links(file: str) -> None:
    command = next(line for line in (ROOT / file).read_text().splitlines() if "server.asgi:application" in line)
    assert "--no-access-log" in command


def test_no_variable_that_holds_a_secret_of_the_web_reaches_a_lane(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in PRIVATE_VARIABLES:
        monkeypatch.setenv(name, "canary-of-the-web")
    monkeypatch.setenv("HF_TOKEN", "by which lanes load models")
    head = RayHead(var=tmp_path, ports=RayPorts(20_000), node="here", host="127.0.0.1").process_spec().env
    for given in (head, environment(dict.fromkeys(PRIVATE_VARIABLES, "canary-of-the-web"))):
        assert "canary-of-the-web" not in given.values()
    assert head["HF_TOKEN"]
