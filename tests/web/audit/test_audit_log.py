"""Every change for a user is recorded once, with user, object and request."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from celery.contrib.testing.worker import start_worker
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import AsyncClient, Client
from rest_framework.test import APIClient

from accounts import api_tokens
from accounts import services as accounts
from accounts.api_tokens import TokenWish
from accounts.models import Project, User
from audit.models import AppendOnlyError, AuditEntry
from audit.record import record
from audit.request_context import RequestContext, RequestIdFilter, current_request, request_context
from catalog import services as catalog
from fleet.health.upkeep import PoolAction
from fleet.health.upkeep import act as act_on
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node
from runs import services as runs
from runs.command_services import request_command
from runs.models import Run, RunTransition
from server.celery_app import app as celery_app
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


def only_entry() -> AuditEntry:
    return AuditEntry.objects.get()


def test_a_row_says_who_did_what_to_which_thing_of_which_project(project: Project, alice: User) -> None:
    accounts.rename_project(user=alice, project=project, name="Circles")
    entry = only_entry()
    assert (entry.user, entry.actor, entry.action) == (alice, "alice", "project.rename")
    assert (entry.object_type, entry.object_id, entry.object_name) == ("project", str(project.pk), "Circles")
    assert (entry.project_id, entry.changes) == (project.pk, {"before": "Shapes"})
    assert (entry.request_id, entry.token_key) == ("", "")


def every_service(alice: User, bob: User, project: Project, ended: Run, spec: RunSpec) -> list[tuple[str, Any]]:
    """(action, act), each of which succeeds when called in this order."""
    (lane, *_), node = ensure_local_lanes(num_cpu_lanes=3), Node.objects.get()
    made: dict[str, Any] = {}

    def keep(name: str, value: Any) -> None:
        made[name] = value

    own: Any = {"user": alice, "project": project}
    return [
        ("project.create", lambda: accounts.create_project(user=alice, name="Mine")),
        ("member.change_role", lambda: accounts.change_role(**own, username="bob", role="viewer")),
        ("member.remove", lambda: accounts.remove_member(**own, username="bob")),
        ("member.add", lambda: accounts.add_member(**own, username="bob", role="editor")),
        ("token.create", lambda: keep("token", api_tokens.create_token(user=alice, wish=TokenWish(name="ci"))[0])),
        ("token.revoke", lambda: api_tokens.revoke_token(user=alice, token_key=made["token"].token_key)),
        ("prompt_set.create", lambda: keep("set", catalog.create_prompt_set(**own, name="p", prompts=["x", "y"]))),
        ("prompt_set.delete", lambda: catalog.delete_prompt_set(user=alice, prompt_set=made["set"])),
        (
            "secret.create",
            lambda: keep("secret", catalog.create_secret(**own, name="s", host="h.example", value="hush")),
        ),
        ("secret.delete", lambda: catalog.delete_secret(user=alice, secret=made["secret"])),
        ("node.drain", lambda: act_on(user=alice, on=node, action=PoolAction.DRAIN, reason="new fans")),
        ("lane.cordon", lambda: act_on(user=alice, on=lane, action=PoolAction.CORDON, reason="hot")),
        ("run.create", lambda: keep("run", runs.create_run(**own, name="r", spec=spec))),
        ("run.create", lambda: runs.duplicate_run(user=alice, run=made["run"])),
        ("run.annotate", lambda: runs.set_notes_and_tags(user=bob, run=made["run"], notes="fine")),
        ("run.rename", lambda: runs.rename_run(user=alice, run=made["run"], name="better")),
        ("run.cancel", lambda: request_command(user=alice, run=made["run"], kind="cancel")),
        ("run.archive", lambda: runs.archive_run(user=alice, run=ended)),
        ("run.unarchive", lambda: runs.unarchive_run(user=alice, run=ended)),
        ("run.delete", lambda: runs.delete_run(user=alice, run=ended)),
    ]


def test_each_service_call_that_changes_something_appends_exactly_one_row(
    alice: User, bob: User, project: Project, make_run: MakeRun, make_spec: Callable[..., RunSpec]
) -> None:
    alice.is_pool_admin = True
    for action, act in every_service(alice, bob, project, make_run(project, state="completed"), make_spec()):
        before = AuditEntry.objects.count()
        act()
        (added,) = AuditEntry.objects.all()[: AuditEntry.objects.count() - before]
        assert added.action == action
        assert "hush" not in str(added.changes)


def test_what_is_refused_appends_nothing(project: Project, viewer: User, alice: User) -> None:
    with pytest.raises(PermissionDenied):
        accounts.rename_project(user=viewer, project=project, name="Circles")
    with pytest.raises(ValidationError):
        accounts.rename_project(user=alice, project=project, name=" ")
    assert not AuditEntry.objects.exists()


def test_a_change_that_is_undone_leaves_no_row(project: Project, alice: User) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        accounts.rename_project(user=alice, project=project, name="Circles")
        raise ZeroDivisionError
    assert not AuditEntry.objects.exists()


def test_rows_are_never_changed_or_deleted(project: Project, alice: User) -> None:
    entry = record("project.rename", project, user=alice)
    for act in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(actor="nobody"),
    ):
        with pytest.raises(AppendOnlyError, match="only appended to"):
            act()
    assert only_entry().actor == "alice"


def test_a_row_outlives_its_user_and_its_thing(make_user: Callable[..., User], project: Project) -> None:
    guest = make_user("guest")
    record("project.rename", project, user=guest, project_id=project.pk)
    guest.delete()
    project.delete()
    assert (only_entry().actor, only_entry().object_name) == ("guest", "Shapes")


def test_a_request_over_rest_is_found_again_by_its_id_and_token(alice: User, project: Project) -> None:
    entry, token = api_tokens.create_token(user=alice, wish=TokenWish(name="ci"))
    client = APIClient()
    headers = {"Authorization": f"Bearer {token}", "X-Request-ID": "sweep-17.a_b"}
    answer = client.patch(f"/api/v1/projects/{project.pk}", {"name": "Circles"}, headers=headers)
    assert (answer.status_code, answer.headers["X-Request-ID"]) == (200, "sweep-17.a_b")
    found = AuditEntry.objects.get(request_id="sweep-17.a_b")
    assert (found.action, found.token_key) == ("project.rename", entry.token_key)


def test_a_transition_names_the_request_that_led_to_it(alice: User, make_run: MakeRun, project: Project) -> None:
    run, api = make_run(project), APIClient()
    api.force_authenticate(alice)
    api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "cancel"}, headers={"X-Request-ID": "c1"})
    assert RunTransition.objects.get(run=run).request_id == "c1"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 65, "line\nbreak", "ünïcode"])
def test_a_request_without_a_usable_id_gets_a_new_one(sent: str, db: None) -> None:
    answer = Client().get("/login/", headers={"X-Request-ID": sent.encode().decode("latin-1")})
    assert uuid.UUID(answer.headers["X-Request-ID"])
    assert current_request() == RequestContext()


@pytest.mark.django_db(transaction=True)
def test_requests_served_asynchronously_keep_their_own_ids() -> None:
    async def ask(index: int) -> HttpResponseBase:
        return await AsyncClient().get("/login/", headers={"X-Request-ID": f"r{index}"})

    async def ask_all() -> list[HttpResponseBase]:
        return await asyncio.gather(*(ask(index) for index in range(3)))

    answers = async_to_sync(ask_all)()
    assert [answer.headers["X-Request-ID"] for answer in answers] == ["r0", "r1", "r2"]


def test_log_lines_carry_the_id_of_their_request() -> None:
    line = logging.LogRecord("x", logging.INFO, "f", 1, "hello", (), None)
    with request_context(RequestContext("r7")):
        RequestIdFilter().filter(line)
    assert line.__dict__["request_id"] == "r7"
    RequestIdFilter().filter(line)
    assert line.__dict__["request_id"] == "-"


@pytest.mark.django_db(transaction=True)
def test_a_task_is_done_for_the_request_that_enqueued_it_and_the_next_for_none() -> None:
    seen: list[RequestContext] = []

    @celery_app.task(name="tandem.test.context")
    def note() -> None:
        seen.append(current_request())

    with celery_app.connection_for_write() as connection, connection.channel():
        asked = RequestContext("r9", "abc")
        with start_worker(celery_app, perform_ping_check=False, pool="solo", queues=["audit-test"]):
            note.apply_async(queue="audit-test", headers=asked.headers())
            note.apply_async(queue="audit-test")
            deadline = time.monotonic() + 20
            while len(seen) < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
    assert seen == [asked, RequestContext()]


def test_the_admin_shows_the_log_and_lets_nobody_change_it(client: Client, alice: User, project: Project) -> None:
    entry = record("project.rename", project, user=alice)
    alice.is_staff = alice.is_superuser = True
    alice.save()
    client.force_login(alice)
    assert b"project.rename" in client.get("/admin/audit/auditentry/").content
    assert client.get(f"/admin/audit/auditentry/{entry.pk}/change/").status_code == 200
    assert client.post(f"/admin/audit/auditentry/{entry.pk}/delete/").status_code == 403
    assert client.get("/admin/audit/auditentry/add/").status_code == 403
    assert client.get(f"/admin/audit/auditentry/{entry.pk}/change/?_to_field=").status_code == 200
    assert client.get("/admin/audit/auditentry/?action__exact=project.rename").status_code == 200
    assert client.get("/admin/audit/auditentry/?changes__range={'x':1}").status_code == 400, "no filter of the list"
