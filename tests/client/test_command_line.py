"""`tandem` against the real application: what it prints, and how it ends."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from accounts.models import ApiToken, Project, User
from catalog.mirror_services import create_mirror
from catalog.models import MirrorKind, PromptSet
from fleet.lane_layout import ensure_local_lanes
from runs.models import Run
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tests.client.conftest import ADDRESS, OverWsgi
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
Tandem = Callable[..., Result]
MakeRun = Callable[..., Run]


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's settings; no server is known."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TANDEM_URL", "TANDEM_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "config"


@pytest.fixture
def anonymous() -> Tandem:
    def call(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(app, arguments, obj=Invocation(transport=OverWsgi()), **options)

    return call


@pytest.fixture
def tandem(anonymous: Tandem, alice: User, token_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Tandem:
    """alice's."""
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(alice))
    return anonymous


@pytest.fixture
def spec_file(make_spec: Callable[..., RunSpec], tmp_path: Path) -> str:
    (tmp_path / "wide.yaml").write_text(make_spec().to_yaml())
    return "wide.yaml"


def test_signing_in_keeps_a_token_that_only_the_user_reads(
    anonymous: Tandem, alice: User, token_of: Callable[..., str], config: Path
) -> None:
    assert anonymous("login", ADDRESS, "--token", "wrong").exit_code == 3
    assert not config.exists()
    done = anonymous("login", f"{ADDRESS}/", "--name", "lab", input=f"{token_of(alice)}\n")
    assert "Signed in to http://testserver as alice" in done.stdout
    (file,) = (config / "tandem").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(anonymous("runs", "list", "--json").stdout) == []
    listed = json.loads(anonymous("contexts", "--json").stdout)
    assert listed == [{"name": "lab", "url": ADDRESS, "is_current": True}]
    unknown = anonymous("--context", "home", "runs", "list")
    assert (unknown.exit_code, "known are: lab" in unknown.stderr) == (3, True)


def test_without_a_server_it_says_how_to_sign_in(anonymous: Tandem) -> None:
    refused = anonymous("runs", "list")
    assert refused.exit_code == 3
    assert "tandem login" in refused.stderr


def test_a_run_is_created_listed_shown_and_cancelled(tandem: Tandem, project: Project, spec_file: str) -> None:
    made = json.loads(tandem("runs", "create", "-f", spec_file, "--tag", "a", "--tag", "b", "--json").stdout)
    assert (made["name"], made["tags"]) == ("wide", ["a", "b"])
    assert [run["id"] for run in json.loads(tandem("runs", "list", "--json").stdout)] == [made["id"]]
    row = tandem("runs", "list").stdout.splitlines()[1]
    assert row.startswith("wide")
    assert row.endswith(made["id"])
    assert ["state", "queued"] in [line.split() for line in tandem("runs", "show", "wide").stdout.splitlines()]
    assert tandem("runs", "cancel", "wide").stdout.startswith("wide is cancelled: command-")
    assert Run.objects.get().state == "cancelled"


def test_exit_codes_say_what_went_wrong(
    tandem: Tandem, project: Project, make_run: MakeRun, spec_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(project=project, name="waiting")
    make_run(project=project, name="broken", state="failed")
    Path("bad.yaml").write_text("num_batches: 0")
    assert tandem("runs", "create", "-f", "bad.yaml").exit_code == 1
    assert tandem("runs", "create", "-f", "absent.yaml").exit_code == 2
    assert tandem("runs", "show", "absent").exit_code == 4
    assert tandem("runs", "pause", "waiting").exit_code == 5
    assert tandem("runs", "watch", "broken").exit_code == 10
    monkeypatch.setenv("TANDEM_TOKEN", "unknown")
    refused = tandem("runs", "list")
    assert refused.exit_code == 3
    assert refused.stderr.startswith("tandem: ")
    assert refused.stdout == ""


def test_a_server_that_does_not_answer_has_its_own_exit_code(tandem: Tandem) -> None:
    away = Invocation(transport=OverWsgi(httpx.ConnectError("connection refused")))
    refused = CliRunner().invoke(app, ["tokens", "revoke", "any"], obj=away)
    assert (refused.exit_code, "cannot be reached: connection refused" in refused.stderr) == (6, True)


def test_a_watched_run_is_told_by_its_changes(tandem: Tandem, project: Project, make_run: MakeRun) -> None:
    make_run(project=project, name="done", state="completed", num_batches_done=2)
    watched = tandem("runs", "watch", "done")
    assert (watched.exit_code, watched.stdout) == (0, "completed 2/2\n")


def test_logs_are_lines_for_people_and_documents_for_programs(
    tandem: Tandem, run: Run, report: Callable[..., None]
) -> None:
    report({"type": "log", "level": "warning", "source": "rollout-0", "message": "a slow step"})
    assert tandem("runs", "logs", str(run.pk)).stdout.split(maxsplit=1)[1] == "warning rollout-0    a slow step\n"
    (line,) = tandem("runs", "logs", run.name, "--json", "--level", "warning").stdout.splitlines()
    assert json.loads(line)["text"] == "a slow step"
    assert tandem("runs", "logs", run.name, "--level", "error").stdout == ""


def test_specs_are_compared_by_the_fields_that_differ(
    tandem: Tandem, project: Project, make_run: MakeRun, make_spec: Callable[..., RunSpec]
) -> None:
    make_run(project=project, name="short")
    make_run(project=project, name="long", spec=make_spec(num_batches=9))
    told = json.loads(tandem("runs", "compare", "short", "long", "--json").stdout)
    assert told["spec_differences"] == {"num_batches": [2, 9]}
    table = tandem("runs", "compare", "short", "long").stdout
    assert [line.split() for line in table.splitlines()][-1] == ["num_batches", "2", "9"]


def test_a_spec_is_planned_and_the_queue_read(
    tandem: Tandem, project: Project, make_run: MakeRun, spec_file: str
) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    assert "samples/s" in tandem("plan", "-f", spec_file).stdout
    assert json.loads(tandem("plan", "-f", spec_file, "--json").stdout)["fits_pool"] is True
    assert tandem("queue").stdout == "Nothing waits.\n"
    make_run(project=project, name="waiting")
    assert "waiting" in tandem("queue").stdout
    assert tandem("usage", "--by", "run").exit_code == 0
    assert tandem("usage", "--by", "colour").exit_code == 1


def test_pool_admins_cordon_drain_and_return_nodes(tandem: Tandem, alice: User) -> None:
    (lane, *_) = ensure_local_lanes(num_cpu_lanes=1)
    node = lane.node.name
    assert tandem("pool", "cordon", node, "--reason", "a fan").exit_code == 3
    User.objects.filter(pk=alice.pk).update(is_pool_admin=True)
    assert json.loads(tandem("pool", "cordon", node, "--reason", "a fan", "--json").stdout)["reason"] == "a fan"
    assert "cordoned" in tandem("pool", "status").stdout
    assert tandem("pool", "drain", node, "--reason", "a fan", "--until", "2099-01-01").exit_code == 0
    assert tandem("pool", "return", node).stdout == f"{node} is available.\n"
    assert tandem("pool", "cordon", "absent", "--reason", "a fan").exit_code == 4


def test_tokens_are_made_listed_and_revoked(tandem: Tandem) -> None:
    secret = tandem("tokens", "create", "ci", "--scope", "read", "--scope", "run", "--days", "7").stdout.strip()
    listed = {token["name"]: token for token in json.loads(tandem("tokens", "list", "--json").stdout)}
    assert sorted(listed["ci"]["scopes"]) == ["read", "run"]
    assert secret not in str(listed)
    assert tandem("tokens", "revoke", listed["ci"]["id"]).exit_code == 0
    assert not ApiToken.objects.filter(name="ci").exists()


def test_a_file_of_prompts_becomes_a_set(tandem: Tandem, project: Project) -> None:
    Path("cats.txt").write_text("a cat\n\na black cat\n")
    Path("dogs.jsonl").write_text('{"text": "a dog", "negative": "a cat"}\n"a wolf"\n')
    Path("bad.jsonl").write_text('"a dog"\na wolf\n')
    assert tandem("prompts", "push", "cats.txt").exit_code == 0
    assert json.loads(tandem("prompts", "push", "dogs.jsonl", "--name", "d", "--json").stdout)["num_prompts"] == 2
    assert {each.name: each.num_prompts for each in PromptSet.objects.all()} == {"cats": 2, "d": 2}
    refused = tandem("prompts", "push", "bad.jsonl")
    assert (refused.exit_code, "bad.jsonl, line 2: not JSON" in refused.stderr) == (1, True)


def test_a_run_that_has_ended_is_mirrored_by_the_mirrors_name(
    tandem: Tandem, project: Project, make_run: MakeRun, alice: User
) -> None:
    make_run(project, name="wide", state="completed")
    create_mirror(user=alice, project=project, kind=MirrorKind.TENSORBOARD, name="tb", place="shapes")
    unknown = tandem("runs", "mirror", "wide", "wandb")
    assert (unknown.exit_code, "it has: tb" in unknown.output) == (4, True)
    assert tandem("runs", "mirror", "wide", "tb").output == "wide is written to tb.\n"
    (row,) = json.loads(tandem("runs", "mirrors", "wide", "--json").output)
    assert (row["name"], row["state"], row["batch"]) == ("tb", "following", 0)
