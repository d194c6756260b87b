"""The kinds of data that retention deletes, and which rows and files of a run each has.

What is left of a run: its row, spec, curves, evaluations, adapters, records of checkpoints, transitions, lane time and
the events that pages tell of; so it is compared, forked and accounted for as before.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

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
Runs = Collection[UUID] | QuerySet[Any, Any]
"""Keys of runs, or a query of them."""


class Kind(StrEnum):
    TELEMETRY = "telemetry"
    SAMPLES = "samples"
    LOGS = "logs"
    SCHEDULER_EVENTS = "scheduler events"


def _no_rows(runs: Runs) -> tuple[QuerySet[Any], ...]:
    return ()


def _no_files(runs: Runs) -> QuerySet[Artifact]:
    return Artifact.objects.none()


@dataclass(frozen=True, slots=True)
class KindOfData:
    setting: str
    rows: Callable[[Runs], tuple[QuerySet[Any], ...]] = _no_rows
    """Of these runs, one for each table."""
    files: Callable[[Runs], QuerySet[Artifact]] = _no_files
    """Of these runs: the rows of their files."""

    @property
    def days(self) -> int:
        """How long it is kept after the run's end; 0 for good."""
        return int(getattr(settings, self.setting))


def _spans_and_events(runs: Runs) -> tuple[QuerySet[Any], ...]:
    spans = SpanRow.objects.filter(run__in=runs).exclude(kind__in=OF_LENDING)
    return spans, StreamItem.objects.filter(run__in=runs, type__in=STORED_TWICE)


def _samples(runs: Runs) -> tuple[QuerySet[Any], ...]:
    return Sample.objects.filter(run__in=runs), StreamItem.objects.filter(run__in=runs, type="samples")


def _pictures(runs: Runs) -> QuerySet[Artifact]:
    # One query for each column, because PostgreSQL looks up a path in a hash table only where one is compared.
    of_run = Sample.objects.filter(run__in=runs, run=OuterRef("run"))
    is_shown = Exists(of_run.filter(artifact_path=OuterRef("path"))) | Exists(
        of_run.filter(poster_path=OuterRef("path"))
    )
    return Artifact.objects.filter(is_shown, run__in=runs)


KINDS: dict[Kind, KindOfData] = {
    Kind.TELEMETRY: KindOfData("TANDEM_KEEP_TELEMETRY_DAYS", _spans_and_events),
    Kind.SAMPLES: KindOfData("TANDEM_KEEP_SAMPLES_DAYS", _samples, _pictures),
    Kind.LOGS: KindOfData("TANDEM_KEEP_LOGS_DAYS", lambda runs: (RunLogEntry.objects.filter(run__in=runs, type=LOG),)),
    Kind.SCHEDULER_EVENTS: KindOfData(
        "TANDEM_KEEP_SCHEDULER_EVENTS_DAYS",
        files=lambda runs: Artifact.objects.filter(run__in=runs, path__startswith=SCHEDULE_LOG_FOLDER),
    ),
}
