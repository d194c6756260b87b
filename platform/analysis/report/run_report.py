"""Renders the report of a run: curves, pictures, lane time, spec and versions in one HTML file.

    run ─► curves, pictures, lane time, history ─► templates/analysis/report.html ─► one file without any request

Invariant: the file refers to nothing outside itself, and its size is bounded by the bounds of its parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string
from django.utils import timezone

from analysis.report.report_curves import MAX_POINTS, charts
from analysis.report.report_lanes import lane_time
from analysis.report.report_pictures import pictures
from runs.models import Run
from runs.run_body import RunBody
from telemetry.curves.curves import Series, curves
from telemetry.selectors import stream_items
from telemetry.stream_items import TRANSITION
from telemetry.unreadable import is_body
from worker.contracts.metric_names import Metric
from worker.contracts.release import VERSION
from worker.contracts.run_spec import RunSpec

MAX_EVENTS = 200
"""Most changes of state that are listed, from the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One number of the run, with what it means."""

    label: str
    value: float | None
    before: float | None = None
    """The same before training, where it was measured."""
    unit: str = ""
    definition: str

    @property
    def change(self) -> float | None:
        return None if self.before is None or self.value is None else self.value - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    at: datetime
    text: str
    reason: str


def render_report(run: Run, body: RunBody) -> str:
    """The run's report as HTML; `body` is the run as its reader sees it."""
    now = timezone.now()
    found = curves(run.pk, max_points=MAX_POINTS)
    lanes = lane_time(run.pk, now=now.timestamp())
    reported = stream_items(run.pk, after_seq=0, limit=MAX_EVENTS, types=["software"])
    software = [item["body"] for item in reported if is_body("software", item["body"])]
    context: dict[str, Any] = {
        "run": run,
        "body": body,
        "written_at": now,
        "tandem_version": VERSION,
        "outcomes": _outcomes(run, body, found["series"], 100 * lanes.busy_share if lanes.shares else None),
        "charts": charts(found),
        "pictures": pictures(run.pk),
        "lane_time": lanes,
        "history": _history(run),
        "software": software[-1]["versions"] if software else {},
        "spec": RunSpec.model_validate(run.spec).to_yaml(),
        "seconds": _seconds_of(run),
    }
    return render_to_string("analysis/report.html", context)


def _outcomes(run: Run, body: RunBody, series: dict[str, Series], busy_percent: float | None) -> list[Outcome]:
    headline = body["headline"]
    samples = headline.get("num_samples")
    held_out = f"Mean over {samples} held-out samples" if samples else "Mean over the held-out samples"
    outcomes = [
        Outcome(
            label="Held-out reward",
            before=headline.get("reward_before"),
            value=headline.get("reward_after"),
            definition=f"{held_out} of the weighted sum of the trained rewards, before training and at the newest "
            f"evaluation, after batch {headline.get('batch_after', 0)}.",
        )
    ]
    outcomes += [
        Outcome(
            label=name.replace("_", " "),
            before=headline.get("before", {}).get(name),
            value=value,
            definition=f"{held_out} of this reward alone.",
        )
        for name, value in sorted(headline.get("after", {}).items())
        if name != "reward"
    ]
    seconds = series.get(Metric.BATCH_SECONDS.value)
    mean_seconds = sum(seconds["value"]) / len(seconds["value"]) if seconds and seconds["value"] else None
    return [
        *outcomes,
        Outcome(
            label="Throughput",
            value=run.batch_algebra.num_trajectories / mean_seconds if mean_seconds else None,
            unit="samples/s",
            definition=f"{run.batch_algebra.num_trajectories} trajectories of a batch ÷ the mean seconds of a batch, "
            "over all batches.",
        ),
        Outcome(
            label="Busy share",
            value=busy_percent,
            unit="%",
            definition="Lane time spent on any work ÷ the lane time that was not paused. The rest is idle, or no lane "
            "reported it.",
        ),
    ]


def _history(run: Run) -> Sequence[HistoryLine]:
    """The run's changes of state, oldest first."""
    items = stream_items(run.pk, after_seq=0, limit=MAX_EVENTS, types=[TRANSITION])
    return [
        HistoryLine(
            at=datetime.fromtimestamp(item["at"], tz=timezone.get_current_timezone()),
            text=f"{item['body']['old'] or 'created'} → {item['body']['new']}",
            reason=item["body"]["reason"],
        )
        for item in items
    ]


def _seconds_of(run: Run) -> float | None:
    if run.started_at is None:
        return None
    return ((run.ended_at or timezone.now()) - run.started_at).total_seconds()
