"""The demo run in the terminal: created from a preset, followed through the database, summarised at its end."""

import time
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from accounts.models import Project, User
from catalog.presets import get_preset
from gallery.models import Artifact
from gallery.selectors import adapters
from runs.models import Run
from runs.services import create_run
from server import environment
from server.errors import CannotStartError
from server.stack.screen import Screen, screen
from server.stack.starting import Started
from telemetry.models import MetricPoint
from worker.contracts.metric_names import Metric
from worker.contracts.states import RunState

SHOWN_METRICS = (Metric.REWARD_MEAN, Metric.IMAGES_PER_SECOND)
POLL_SECONDS = 1.0
"""How often the database is asked how far the run is, which changes no faster than a batch."""


def follow_demo(preset: str, console: Console, started: Started) -> bool:
    """Run the preset to its end; returns whether it completed."""
    run = create_demo_run(preset, user=started.admin, project=started.project)
    console.print(f"Run [bold]{run.name}[/bold]: {run.batch_algebra.describe()}", soft_wrap=True)
    with screen(console) as shown:
        finished = _follow(shown, started, DemoProgress(run))
    return print_summary(console, finished)


def _follow(shown: Screen, started: Started, progress: "DemoProgress") -> Run:
    while True:
        snapshot = progress.update()
        if shown.is_live:
            shown.show(started.stack.states, progress.bar)
        else:
            shown.show(started.stack.states)
            progress.print_change(shown.console, snapshot)
        if snapshot.run.has_ended:
            return snapshot.run
        deadline = time.monotonic() + POLL_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            started.stack.listen(left)


def create_demo_run(preset_name: str, *, user: User, project: Project) -> Run:
    """Create a queued run of the preset.

    Raises:
        CannotStartError: there is no such preset.
    """
    try:
        preset = get_preset(preset_name)
    except LookupError as error:
        raise CannotStartError(str(error)) from error
    number = Run.objects.filter(project=project, name__startswith=preset.title).count() + 1
    name = preset.title if number == 1 else f"{preset.title} ({number})"
    return create_run(user=user, project=project, name=name, spec=preset.spec)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The progress of a run at one moment."""

    run: Run
    latest: dict[str, float]
    """Newest value of each of `SHOWN_METRICS` that has one."""

    @classmethod
    def of(cls, run_id: UUID) -> "Snapshot":
        latest = {}
        for key in SHOWN_METRICS:
            point = MetricPoint.objects.filter(run_id=run_id, key=key).order_by("stream_seq").last()
            if point is not None:
                latest[key.value] = point.value
        return cls(Run.objects.get(pk=run_id), latest)

    @property
    def line(self) -> str:
        """`running, train · reward 0.412 · 18.3 images/s`."""
        parts = [f"{self.run.state}, {self.run.phase}" if self.run.phase else self.run.state]
        if Metric.REWARD_MEAN in self.latest:
            parts.append(f"reward {self.latest[Metric.REWARD_MEAN]:.3f}")
        if Metric.IMAGES_PER_SECOND in self.latest:
            parts.append(f"{self.latest[Metric.IMAGES_PER_SECOND]:.1f} images/s")
        if self.run.attempt > 1:
            parts.append(f"attempt {self.run.attempt} of {self.run.max_attempts}")
        return " · ".join(parts)


class DemoProgress:
    """The progress bar of one run. `bar` is for a terminal; elsewhere `print_change` writes a line per batch."""

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        self.bar = Progress(
            TextColumn("batch {task.completed:.0f}/{task.total:.0f}"),
            BarColumn(bar_width=30),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
        )
        self._task: TaskID = self.bar.add_task("queued", total=run.num_batches)
        self._last_printed = ""

    def update(self) -> Snapshot:
        snapshot = Snapshot.of(self.run_id)
        self.bar.update(self._task, completed=snapshot.run.num_batches_done, description=snapshot.line)
        return snapshot

    def print_change(self, console: Console, snapshot: Snapshot) -> None:
        run = snapshot.run
        progress = f"{run.state} {run.phase} {run.num_batches_done}"
        if progress != self._last_printed:
            console.print(f"batch {run.num_batches_done}/{run.num_batches} · {snapshot.line}", soft_wrap=True)
        self._last_printed = progress


def print_summary(console: Console, run: Run) -> bool:
    """Print what the run achieved, or why it failed; returns whether it completed."""
    console.print(f"\nRun page: {environment.PUBLIC_URL}/runs/{run.pk}", soft_wrap=True)
    if run.run_state is not RunState.COMPLETED:
        console.print(f"[red]The run {run.state}.[/red]")
        failure = run.failure or {}
        for field in ("reason", "phase", "details", "log_tail"):
            if failure.get(field):
                console.print(f"{field}: {failure[field]}", markup=False, soft_wrap=True)
        return False
    seconds = (run.ended_at - run.started_at).total_seconds() if run.ended_at and run.started_at else 0.0
    console.print(f"[green]Completed[/green] {run.num_batches_done} batches in {seconds:.0f} s.")
    before, after = run.headline.get("before") or {}, run.headline.get("after") or {}
    for name in sorted(before.keys() & after.keys(), key=lambda name: (name != "reward", name)):
        console.print(f"  held-out {name:<24} {before[name]:.3f} → [bold]{after[name]:.3f}[/bold]")
    console.print(f"  LoRA: {lora_location(run)}", soft_wrap=True)
    return True


def lora_location(run: Run) -> str:
    """The path of the run's final LoRA in the artifact storage.

    Raises:
        CannotStartError: the run has none, which a completed run must not.
    """
    adapter = adapters(run.pk).filter(final=True).first()
    artifact = adapter and Artifact.objects.filter(run=run, path=adapter.artifact_path, attempt=adapter.attempt).first()
    if not artifact:
        raise CannotStartError(f"The run {run.pk} completed without a LoRA; see its event log.")
    return f"{settings.TANDEM_ARTIFACTS.removeprefix('file://').rstrip('/')}/{artifact.storage_key}"
