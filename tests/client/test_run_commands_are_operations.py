"""A run's commands return their operation, from Python and on the command line."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from typer.testing import CliRunner, Result

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.services import LaneHolder, allocate
from runs.models import Attempt, Run
from runs.reports import driver_reports
from tandem import Conflict, Invalid, OperationFailed
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tandem.synchronous.client import Client
from tests.client.conftest import ADDRESS, OverWsgi
from worker.contracts.events import CommandDoneEvent

pytestmark = pytest.mark.django_db
Command = Callable[..., Result]


@pytest.fixture
def working(make_run: Callable[..., Run], project: Project) -> Run:
    """A run that trains on one lane of each role; the pool has two more."""
    ensure_local_lanes(num_cpu_lanes=5)
    made = make_run(project=project, name="wide", state="running", attempt=1)
    Attempt.objects.create(run=made, number=1, bootstrap_used_at=timezone.now())
    holder = LaneHolder(run_id=made.pk, attempt=1, project_id=project.pk, user_id=None)
    allocate(holder=holder, wanted=made.run_spec.granted_lanes)
    return made


@pytest.fixture
def tandem(alice: User, token_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(alice))

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["runs", *arguments], obj=Invocation(transport=OverWsgi()))

    return call


def answer(run: Run, operation: str, *, accepted: bool, detail: str = "") -> None:
    """The driver has done what it was told, or not."""
    told = {"command_id": operation.partition("-")[2], "accepted": accepted, "detail": detail}
    driver_reports.record_command_done(run.pk, CommandDoneEvent(seq=1, at=0.0, **told))


def test_a_command_is_waited_for_until_the_driver_has_done_it(client: Client, working: Run) -> None:
    run = client.runs.get("wide")
    begun = run.checkpoint_now()
    assert (begun.kind, begun.action, begun.target.name, begun.has_ended) == (
        "command",
        "checkpoint_now",
        "wide",
        False,
    )
    answer(working, begun.id, accepted=True)
    assert begun.wait().state == "succeeded"
    refused = run.sample_now(["a red circle"])
    answer(working, refused.id, accepted=False, detail="no lane draws")
    with pytest.raises(OperationFailed, match="no lane draws"):
        refused.wait()


def test_each_command_returns_its_operation(client: Client, working: Run) -> None:
    run = client.runs.get("wide")
    assert [each.action for each in (run.pause(), run.stop(), run.cancel())] == ["pause", "stop", "cancel"]
    with pytest.raises(Conflict, match="stopping"):
        run.resume()


def test_a_resize_is_an_operation(client: Client, working: Run) -> None:
    run = client.runs.get("wide")
    with pytest.raises(Invalid):
        run.resize(add={"rollout": 9})
    begun = run.resize(add={"rollout": 2})
    assert (begun.kind, begun.state, begun.target.name) == ("resize", "waiting", "wide")
    assert begun.id == f"resize-{run.size().resizes[0].id}"
    with pytest.raises(TimeoutError):
        begun.wait(timeout=0)


def test_the_command_line_waits_where_it_is_told_to(
    tandem: Command, make_run: Callable[..., Run], project: Project, working: Run
) -> None:
    told = tandem("pause", "wide").stdout
    assert told.startswith("wide pauses after the batch under way: command-")
    make_run(project=project, name="queued one")
    assert tandem("cancel", "queued one", "--wait").stdout == "queued one is cancelled.\n"
    resized = tandem("resize", "wide", "--add", "rollout:2")
    assert resized.stdout.startswith("wide is resized: resize-"), resized.output
    again = tandem("resize", "wide", "--release", "rollout-0", "--wait")
    assert again.exit_code == 5, "one at a time"
    for wrong in (("--add", "rollout:two"), ("--change", "rollout-0")):
        assert tandem("resize", "wide", *wrong).exit_code == 2
