"""What users ask of a run."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from runs.models import Attempt, PendingCommand, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    made = make_run(project=project, state="running", attempt=1)
    Attempt.objects.create(run=made, number=1, bootstrap_used_at=timezone.now())
    return made


def test_an_editor_asks_and_gets_the_commands_id(client_of: Callable[[User], APIClient], run: Run, bob: User) -> None:
    asked = client_of(bob).post(f"/api/v1/runs/{run.pk}/actions", {"action": "sample_now", "prompts": ["a red square"]})
    assert asked.status_code == 202
    command = PendingCommand.objects.get(pk=asked.json()["command_id"])
    assert (command.kind, command.args["prompts"], command.created_by) == ("sample_now", ["a red square"], bob)
    (listed,) = client_of(bob).get(f"/api/v1/runs/{run.pk}/commands").json()["results"]
    assert (listed["kind"], listed["created_by"], listed["accepted"]) == ("sample_now", "bob", None)


def test_409_names_the_state_and_what_is_possible(api: APIClient, run: Run) -> None:
    refused = api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "resume"})
    assert refused.status_code == 409
    assert refused.json()["state"] == "running"
    assert "pause" in refused.json()["legal_actions"]


def test_an_unknown_action_is_refused_by_field(api: APIClient, run: Run) -> None:
    refused = api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "explode"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["action"])


def test_a_queued_run_is_cancelled_at_once(api: APIClient, make_run: Callable[..., Run], project: Project) -> None:
    run = make_run(project=project)
    assert api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "cancel"}).status_code == 202
    body = api.get(f"/api/v1/runs/{run.pk}").json()
    assert (body["state"], body["legal_actions"]) == ("cancelled", [])
