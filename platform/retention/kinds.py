"""The kinds of data that retention deletes, and which rows and files of a run each has.

What is left of a run: its row, spec, curves, evaluations, adapters, records of checkpoints, transitions, lane time and
the events that pages tell of; so it is compared, forked and accounted for as before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from gallery.models import Artifact, Sample
from runs.models import RunLogEntry
from telemetry.models import SpanRow, StreamItem
from worker.contracts.ingest import SCHEDULE_LOG_FOLDER
from worker.contracts.spans import SpanKind

STORED_TWICE = ("spans", "metrics")
"""Events whose content has rows of its own: spans, which go with them, and points of curves, which stay."""
OF_LENDING = (SpanKind.LENT_GENERATE, SpanKind.SWITCH)
"""Spans that the ledger of lending is made of; there are few."""
LOG = "log"


class Kind(StrEnum):
    TELEMETRY = "telemetry"
    SAMPLES = "samples"
    LOGS = "logs"
    SCHEDULER_EVENTS = "scheduler events"


def _no_rows(run_id: UUID) -> tuple[QuerySet[Any], ...]:
    return ()


def _no_files(run_id: UUID) -> QuerySet[Artifact]:
    return Artifact.objects.none()


@dataclass(frozen=True, slots=True)
class KindOfData:
    setting: str
    rows: Callable[[UUID], tuple[QuerySet[Any], ...]] = _no_rows
    """Of a run, one for each table."""
    files: Callable[[UUID], QuerySet[Artifact]] = _no_files
    """Of a run: the rows of its files."""

    @property
    def days(self) -> int:
        """How long it is kept after the run's end; 0 for good."""
        return int(getattr(settings, self.setting))


def _spans_and_events(run_id: UUID) -> tuple[QuerySet[Any], ...]:
    spans = SpanRow.objects.filter(run_id=run_id).exclude(kind__in=OF_LENDING)
    return spans, StreamItem.objects.filter(run_id=run_id, type__in=STORED_TWICE)


def _samples(run_id: UUID) -> tuple[QuerySet[Any], ...]:
    return Sample.objects.filter(run_id=run_id), StreamItem.objects.filter(run_id=run_id, type="samples")


def _pictures(run_id: UUID) -> QuerySet[Artifact]:
    shown = Sample.objects.filter(run_id=run_id)
    is_shown = Q(path__in=shown.values("artifact_path")) | Q(path__in=shown.values("poster_path"))
    return Artifact.objects.filter(is_shown, run_id=run_id)


KINDS: dict[Kind, KindOfData] = {
    Kind.TELEMETRY: KindOfData("TANDEM_KEEP_TELEMETRY_DAYS", _spans_and_events),
    Kind.SAMPLES: KindOfData("TANDEM_KEEP_SAMPLES_DAYS", _samples, _pictures),
    Kind.LOGS: KindOfData(
        "TANDEM_KEEP_LOGS_DAYS", lambda run_id: (RunLogEntry.objects.filter(run_id=run_id, type=LOG),)
    ),
    Kind.SCHEDULER_EVENTS: KindOfData(
        "TANDEM_KEEP_SCHEDULER_EVENTS_DAYS",
        files=lambda run_id: Artifact.objects.filter(run_id=run_id, path__startswith=SCHEDULE_LOG_FOLDER),
    ),
}
