"""What is past its days is told before it is deleted, deleted in pieces, and recorded; everything else stays."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from accounts.models import Project, User
from audit.models import AuditEntry
from catalog.models import Mirror
from gallery import storage
from gallery.models import Artifact, Sample
from mirrors.models import MirroredRun
from retention import deletion_pieces
from retention.due import due
from retention.kinds import KINDS, Kind
from retention.services import delete_due
from runs.models import Run, RunLogEntry
from server import checks
from telemetry.models import MetricPoint, SpanRow, StreamItem
from tests.web.conftest import MakeRun
from tests.web.retention.conftest import LEFT, NUM_SPANS, EndedRun, fill

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> str:
    output = StringIO()
    call_command("retention", *arguments, stdout=output)
    return output.getvalue()


def test_the_dry_run_tells_what_would_go_and_deletes_nothing(ended_run: EndedRun) -> None:
    run = ended_run()
    told = said("--dry-run")
    assert f"telemetry, kept for 7 days: {NUM_SPANS + 2} rows and 0 files of 1 runs would be deleted" in told
    assert "samples, kept for 7 days: 2 rows and 2 files of 1 runs would be deleted" in told
    assert "logs, kept for 7 days: 1 rows and 0 files" in told
    assert "scheduler events, kept for 7 days: 0 rows and 1 files" in told
    assert told.count(f"{run.pk}  {run.name} of Shapes, ended ") == 4
    assert SpanRow.objects.count() == NUM_SPANS + 1 and Artifact.objects.count() == 4
    assert not AuditEntry.objects.exists()


def test_rows_are_told_with_no_more_bytes_than_their_tables_have(ended_run: EndedRun) -> None:
    """Also where PostgreSQL does not know yet how many rows those have."""
    ended_run()
    (share,) = due(Kind.TELEMETRY)
    tables = [model._meta.db_table for model in (SpanRow, StreamItem)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [tables])
        assert 0 < share.row_bytes <= cursor.fetchone()[0]


def test_what_is_past_its_days_is_deleted_with_its_files_and_recorded(
    ended_run: EndedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion_pieces, "PIECE", 3)
    run = ended_run()
    foretold = {share.kind: (share.num_rows, share.num_files) for kind in Kind for share in due(kind)}
    said()
    assert [span.kind for span in SpanRow.objects.all()] == ["lent_generate"] and not Sample.objects.exists()
    assert [item.type for item in StreamItem.objects.all()] == ["evaluation"]
    assert [entry.type for entry in RunLogEntry.objects.all()] == ["state"]
    assert MetricPoint.objects.count() == 1, "curves stay"
    assert [row.path for row in Artifact.objects.all()] == LEFT
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["pytorch_lora_weights.safetensors"]
    recorded = AuditEntry.objects.filter(action="run.retention", object_id=str(run.pk), project_id=run.project_id)
    assert {
        Kind(entry.changes["kind"]): (entry.changes["num_rows"], entry.changes["num_files"]) for entry in recorded
    } == foretold
    assert [entry.actor for entry in recorded] == ["manage.py retention"] * 4
    assert "0 rows and 0 files of 0 runs deleted" in said(), "there is nothing left to delete"


def test_runs_that_ended_later_or_go_on_keep_everything(ended_run: EndedRun, make_run: MakeRun) -> None:
    ended_run(days=6)
    fill(make_run(state="running", attempt=1))
    assert delete_due(actor="test") == []
    assert SpanRow.objects.count() == 2 * (NUM_SPANS + 1)


def test_a_kind_without_days_is_kept_for_good(ended_run: EndedRun, settings: Any) -> None:
    ended_run(days=4000)
    for data in KINDS.values():
        setattr(settings, data.setting, 0)
    assert said().count("kept for good") == len(Kind)
    settings.TANDEM_KEEP_LOGS_DAYS = 7
    assert [share.kind for share in delete_due(actor="test")] == [Kind.LOGS]
    assert SpanRow.objects.count() == NUM_SPANS + 1


def test_a_run_that_a_mirror_still_reads_waits(ended_run: EndedRun, project: Project) -> None:
    run = ended_run()
    mirror = Mirror.objects.create(project=project, name="m", kind="tensorboard", place="runs")
    mirrored = MirroredRun.objects.create(run=run, mirror=mirror, label="x")
    assert due(Kind.TELEMETRY) == []
    mirrored.next_at = None
    mirrored.save()
    assert len(due(Kind.TELEMETRY)) == 1


def test_a_run_that_is_resumed_meanwhile_keeps_what_it_still_has(
    ended_run: EndedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended_run()
    monkeypatch.setattr(deletion_pieces, "PIECE", 3)
    delete_piece = deletion_pieces._delete_piece

    def delete_and_resume(rows: Any) -> int:
        num_deleted = delete_piece(rows)
        if num_deleted:
            Run.objects.filter(pk=run.pk).update(ended_at=None)
        return num_deleted

    monkeypatch.setattr(deletion_pieces, "_delete_piece", delete_and_resume)
    assert delete_due([Kind.TELEMETRY], actor="test") == []
    assert SpanRow.objects.count() == NUM_SPANS + 1 - 3


def test_what_was_interrupted_between_file_and_row_is_found_again(
    ended_run: EndedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended_run()
    storage.delete([row.storage_key for row in Artifact.objects.filter(run=run, path__startswith="pictures/")])
    assert [share.num_files for share in delete_due([Kind.SAMPLES], actor="test")] == [2]
    assert not Artifact.objects.filter(path__startswith="pictures/").exists()


def test_a_round_of_the_worker_ends_in_time_and_the_next_one_goes_on(ended_run: EndedRun) -> None:
    ended_run()
    assert delete_due(actor="test", max_seconds=-1) == []
    assert SpanRow.objects.count() == NUM_SPANS + 1
    assert len(delete_due(actor="test")) == len(Kind)


def test_settings_that_cannot_be_meant_are_told(settings: Any) -> None:
    assert checks.check_retention() == []
    settings.TANDEM_KEEP_LOGS_DAYS = -1
    assert [problem.id for problem in checks.check_retention()] == ["tandem.E016"]
    for data in KINDS.values():
        setattr(settings, data.setting, 0)
    settings.TANDEM_RETENTION = True
    assert [problem.id for problem in checks.check_retention()] == ["tandem.W003"]


def test_its_pages_still_open(ended_run: EndedRun, alice: User, client: Any) -> None:
    run = ended_run()
    delete_due(actor="test")
    client.force_login(alice)
    for path in ("", "/timeline", "/metrics", "/samples", "/logs", "/events", "/lane-states", "/bubbles", "/schedule"):
        answer = client.get(f"/api/v1/runs/{run.pk}{path}")
        assert answer.status_code == (404 if path == "/schedule" else 200), path
