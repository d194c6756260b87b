"""A deletion over REST: shown first, refused where more would go, carried out in rounds, an operation like others."""

import multiprocessing
import os
import signal
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import AuditEntry
from gallery.models import Artifact, Sample
from retention import deletion_pieces, deletion_rounds
from retention.deletion_rounds import LEASE, MAX_ROUNDS_LOST, carry_out, may_have_work
from retention.kinds import KINDS, Kind
from retention.models import Deletion
from runs.models import Run, RunLogEntry
from telemetry.models import SpanRow
from tests.web.api.conftest import ClientOf
from tests.web.retention.conftest import LEFT, NUM_SPANS, EndedRun

pytestmark = pytest.mark.django_db
NUM_ITEMS = 15
"""Rows and files of one run."""


def preview(client: APIClient) -> dict[str, Any]:
    answer = client.post("/api/v1/retention:preview")
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def delete(client: APIClient, preview_id: str) -> tuple[int, dict[str, Any]]:
    answer = client.post("/api/v1/retention:delete", {"preview": preview_id})
    return answer.status_code, answer.json()


def asked(client: APIClient) -> str:
    """The operation of a deletion of all that is shown."""
    status, body = delete(client, preview(client)["id"])
    assert status == 202, body
    return str(body["operation"])


def read(client: APIClient, operation: str) -> dict[str, Any]:
    body: dict[str, Any] = client.get(f"/api/v1/operations/{operation}").json()
    return body


def log_line(run: Run, number: int) -> None:
    RunLogEntry.objects.create(
        run=run, attempt=1, stream_seq=100 + number, at=1e9, type="log", level="info", source="driver", text="late"
    )


def test_the_preview_tells_by_kind_and_run_what_would_go_and_nothing_goes(
    pool_admin: APIClient, ended_run: EndedRun, settings: Any
) -> None:
    older, newer = ended_run(days=20), ended_run(days=9)
    settings.TANDEM_KEEP_SCHEDULER_EVENTS_DAYS = 0
    shown = preview(pool_admin)
    told = {one["kind"]: (one["days"], one["num_runs"], one["num_rows"], one["num_files"]) for one in shown["kinds"]}
    assert told == {
        "telemetry": (7, 2, 2 * (NUM_SPANS + 2), 0),
        "samples": (7, 2, 4, 4),
        "logs": (7, 2, 2, 0),
        "scheduler events": (0, 0, 0, 0),
    }
    pictures = shown["kinds"][1]
    stored = Artifact.objects.filter(run=older, path__startswith="pictures/").values_list("num_bytes", flat=True)
    assert pictures["num_bytes"] >= 2 * sum(stored)
    assert (pictures["oldest_ended_at"] < pictures["newest_ended_at"]) and shown["num_more_shares"] == 0
    assert [share["run_id"] for share in shown["shares"]] == [str(older.pk)] * 3 + [str(newer.pk)] * 3
    assert Sample.objects.count() == 2 and not AuditEntry.objects.exists()


def test_the_policy_says_for_how_long_each_kind_is_kept(pool_admin: APIClient, settings: Any) -> None:
    settings.TANDEM_KEEP_LOGS_DAYS = 0
    told = pool_admin.get("/api/v1/retention").json()
    assert [one["days"] for one in told["kinds"]] == [7, 7, 0, 7]
    assert told["kinds"][2]["setting"] == "TANDEM_KEEP_LOGS_DAYS"
    assert told["is_automatic"] is False


def test_what_was_shown_is_deleted_as_an_operation_and_recorded(pool_admin: APIClient, ended_run: EndedRun) -> None:
    run = ended_run()
    assert not may_have_work()
    operation = asked(pool_admin)
    assert may_have_work()
    waiting = read(pool_admin, operation)
    assert (waiting["state"], waiting["kind"], waiting["requested_by"]) == ("waiting", "retention", "pool-admin")
    assert waiting["progress"] == {"done": 0, "total": NUM_ITEMS, "unit": "rows and files"}
    assert carry_out() and not carry_out()
    assert not may_have_work()
    ended = read(pool_admin, operation)
    assert (ended["state"], ended["progress"]["done"], ended["detail"]) == ("succeeded", NUM_ITEMS, "")
    assert [row.path for row in Artifact.objects.all()] == LEFT and not Sample.objects.exists()
    begun = AuditEntry.objects.get(action="retention.delete")
    assert (begun.actor, begun.changes["num_items"]) == ("pool-admin", NUM_ITEMS)
    of_run = AuditEntry.objects.filter(action="run.retention", object_id=str(run.pk))
    assert {entry.changes["kind"]: entry.actor for entry in of_run} == dict.fromkeys(Kind, "pool-admin")
    assert sum(entry.changes["num_rows"] + entry.changes["num_files"] for entry in of_run) == NUM_ITEMS


def test_asked_for_again_it_is_the_same_operation_and_deletes_nothing_more(
    pool_admin: APIClient, ended_run: EndedRun
) -> None:
    ended_run()
    shown = preview(pool_admin)["id"]
    first = delete(pool_admin, shown)
    assert delete(pool_admin, shown) == first
    carry_out()
    later = ended_run()
    assert delete(pool_admin, shown) == first and not carry_out()
    assert Sample.objects.filter(run=later).exists()
    assert AuditEntry.objects.filter(action="retention.delete").count() == 1


def test_where_more_would_go_than_was_shown_it_is_refused_with_what_changed(
    pool_admin: APIClient, ended_run: EndedRun
) -> None:
    run = ended_run()
    shown = preview(pool_admin)["id"]
    log_line(run, 1)
    status, body = delete(pool_admin, shown)
    assert status == 409
    assert f"{run.name} has 2 rows and 0 files of logs, and 1 and 0 were shown. Make a new preview" in body["detail"]
    assert body["changed"] == [
        {
            **{"kind": "logs", "run": str(run.pk), "name": run.name},
            **{"shown": {"num_rows": 1, "num_files": 0}, "now": {"num_rows": 2, "num_files": 0}},
        }
    ]
    assert not carry_out() and Sample.objects.exists()
    assert delete(pool_admin, preview(pool_admin)["id"])[0] == 202


def test_runs_that_were_not_shown_and_more_of_one_that_comes_later_are_kept(
    pool_admin: APIClient, ended_run: EndedRun
) -> None:
    run = ended_run()
    shown = preview(pool_admin)["id"]
    not_shown = ended_run()
    assert delete(pool_admin, shown)[0] == 202
    log_line(run, 1)
    carry_out()
    assert Sample.objects.get().run == not_shown
    assert RunLogEntry.objects.filter(run=run, type="log").count() == 2, "more than was shown"
    ended = read(pool_admin, f"retention-{shown}")
    assert ended["state"] == "succeeded"
    assert ended["detail"] == "1 share was kept: not past the days any more, or of more than was shown"


def test_a_run_that_was_resumed_or_is_kept_for_longer_by_now_is_kept(
    pool_admin: APIClient, ended_run: EndedRun, settings: Any
) -> None:
    resumed = ended_run()
    ended_run()
    operation = asked(pool_admin)
    Run.objects.filter(pk=resumed.pk).update(ended_at=None)
    settings.TANDEM_KEEP_TELEMETRY_DAYS = 30
    carry_out()
    assert Sample.objects.get().run == resumed
    assert SpanRow.objects.count() == 2 * (NUM_SPANS + 1)
    assert read(pool_admin, operation)["detail"].startswith("5 shares were kept")


def test_one_deletion_at_a_time(pool_admin: APIClient, ended_run: EndedRun) -> None:
    ended_run()
    first, second = preview(pool_admin)["id"], preview(pool_admin)["id"]
    assert delete(pool_admin, first)[0] == 202
    status, body = delete(pool_admin, second)
    assert (status, body["operation"]) == (409, f"retention-{first}")
    assert "another deletion is under way" in body["detail"]


def test_cancelled_it_deletes_no_more(
    pool_admin: APIClient, ended_run: EndedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended_run()
    monkeypatch.setattr(deletion_pieces, "PIECE", 3)
    operation = asked(pool_admin)
    delete_piece = deletion_pieces._delete_piece

    def delete_and_cancel(rows: Any) -> int:
        num_deleted = delete_piece(rows)
        if SpanRow.objects.count() < NUM_SPANS:
            assert pool_admin.post(f"/api/v1/operations/{operation}/cancel").status_code in (200, 409)
        return num_deleted

    monkeypatch.setattr(deletion_pieces, "_delete_piece", delete_and_cancel)
    assert read(pool_admin, operation)["can_cancel"]
    carry_out()
    assert SpanRow.objects.count() == NUM_SPANS + 1 - 3
    assert (read(pool_admin, operation)["state"], carry_out()) == ("cancelled", False)
    assert AuditEntry.objects.get(action="retention.cancel").actor == "pool-admin"
    assert pool_admin.post(f"/api/v1/operations/{operation}/cancel").status_code == 409


def test_a_round_ends_in_time_and_the_next_one_goes_on(pool_admin: APIClient, ended_run: EndedRun) -> None:
    ended_run()
    operation = asked(pool_admin)
    assert carry_out(max_seconds=-1)
    assert read(pool_admin, operation)["state"] == "running"
    assert carry_out() and read(pool_admin, operation)["progress"]["done"] == NUM_ITEMS


def test_rounds_that_break_off_are_counted_and_the_deletion_fails(
    pool_admin: APIClient, ended_run: EndedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended_run()
    operation = asked(pool_admin)

    def fail(*_: Any) -> None:
        raise OSError("no such bucket")

    monkeypatch.setattr("gallery.storage.delete", fail)
    for _ in range(MAX_ROUNDS_LOST):
        with pytest.raises(OSError, match="no such bucket"):
            carry_out()
        assert not carry_out(), "until it is clear that the round is lost, no other begins"
        Deletion.objects.update(worked_until=timezone.now() - timedelta(seconds=1))
    assert not carry_out()
    ended = read(pool_admin, operation)
    assert (ended["state"], ended["can_cancel"]) == ("failed", False)
    assert ended["problem"].startswith("5 rounds in a row broke off")


def test_an_unknown_or_forgotten_preview_is_not_found(pool_admin: APIClient, ended_run: EndedRun) -> None:
    ended_run()
    assert delete(pool_admin, str(uuid4()))[0] == 404
    shown = preview(pool_admin)["id"]
    Deletion.objects.update(made_at=timezone.now() - timedelta(days=2))
    preview(pool_admin)
    assert delete(pool_admin, shown)[0] == 404


def test_only_pool_admins_see_and_ask(
    pool_admin: APIClient,
    client_of: ClientOf,
    alice: User,
    ended_run: EndedRun,
) -> None:
    ended_run()
    operation = asked(pool_admin)
    owner = client_of(alice)
    assert owner.get("/api/v1/retention").status_code == 403
    assert owner.post("/api/v1/retention:preview").status_code == 403
    assert delete(owner, str(uuid4()))[0] == 403
    assert owner.get(f"/api/v1/operations/{operation}").status_code == 404
    assert owner.get("/api/v1/operations").json()["results"] == []
    assert [one["id"] for one in pool_admin.get("/api/v1/operations").json()["results"]] == [operation]


@pytest.mark.django_db(transaction=True)
def test_killed_in_the_middle_of_a_piece_the_next_round_goes_on_and_ends(
    pool_admin: APIClient, ended_run: EndedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended_run()
    monkeypatch.setattr(deletion_pieces, "PIECE", 3)
    operation = asked(pool_admin)
    connections.close_all()
    worker = multiprocessing.get_context("fork").Process(target=_work_and_be_killed)
    worker.start()
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL
    assert SpanRow.objects.filter(run=run).count() == NUM_SPANS + 1 - 3, "the second piece of spans is undone"
    assert read(pool_admin, operation)["progress"]["done"] == NUM_ITEMS - (NUM_SPANS + 2) + 3
    assert not carry_out(), "the round may live"
    Deletion.objects.update(worked_until=timezone.now() - LEASE)
    assert carry_out()
    ended = read(pool_admin, operation)
    assert (ended["state"], ended["progress"]["done"]) == ("succeeded", NUM_ITEMS)
    assert AuditEntry.objects.filter(action="run.retention").count() == len(KINDS)
    assert [row.path for row in Artifact.objects.all()] == LEFT


def _work_and_be_killed() -> None:
    """A worker that is killed once the second piece of spans is deleted and not committed."""
    delete_piece = deletion_pieces._delete_piece

    def delete_and_die(rows: Any) -> int:
        num_deleted = delete_piece(rows)
        if SpanRow.objects.count() == NUM_SPANS + 1 - 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return num_deleted

    deletion_pieces._delete_piece = delete_and_die
    deletion_rounds.carry_out()
