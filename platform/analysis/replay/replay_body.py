"""A replay as plain JSON."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import with_config
from typing_extensions import TypedDict

from worker.contracts.base import JsonOf
from worker.contracts.run_spec import RunSpec
from worker.contracts.spans import Span
from worker.scheduling.rescheduling.reschedule import Schedule

SpanJson = Annotated[dict[str, Any], JsonOf(Span)]


@with_config(use_attribute_docstrings=True)
class ReplaySchedule(TypedDict):
    """What lanes did in the counted batches. Seconds count from the beginning of the first of them."""

    seconds: float
    """Until the last of the batches was published."""
    batch_seconds: list[float]
    """From one published version to the next."""
    lane_seconds: dict[str, float]
    """Seconds of all lanes together by class: a span kind, or `idle:<cause>`. Decoding, encoding and evaluating
    count as the generation or scoring that they are a part of, since a replay does not tell them apart."""
    spans: list[SpanJson]
    """The spans of the first `num_batches_drawn` batches."""


@with_config(use_attribute_docstrings=True)
class ReplayErrorsBody(TypedDict):
    """Replayed ÷ measured seconds under the run's own settings, less 1."""

    recorded: float
    """With each piece of work as long as it was recorded."""
    costs: float
    """With each as long as such work takes on average."""


@with_config(use_attribute_docstrings=True)
class SecondsRange(TypedDict):
    """What the counted batches may take on a device, within the range of what its profile assumes."""

    least: float
    most: float


@with_config(use_attribute_docstrings=True)
class ReplayBody(TypedDict):
    """Successive batches of a run as they were, replayed as they ran, and replayed under other settings."""

    first_batch: int
    """Number of the first counted batch, from 1."""
    num_batches: int
    num_batches_drawn: int
    measured: ReplaySchedule
    own: ReplaySchedule
    """The replay under the run's own settings; without spans."""
    chosen: ReplaySchedule
    chosen_range: SecondsRange | None
    """Of `chosen` on another device than the run's; null on its own."""
    errors: ReplayErrorsBody
    spec: Annotated[dict[str, Any], JsonOf(RunSpec)]
    """The run's spec with the settings asked for, to start a run with."""
    warnings: list[str]
    """What the replay cannot know, in sentences."""


def schedule_body(schedule: Schedule, *, until: float) -> ReplaySchedule:
    """A replayed schedule, with its spans up to `until`."""
    drawn = [span for span in schedule.spans if span.start < until]
    return {
        "seconds": schedule.seconds,
        "batch_seconds": list(schedule.batch_seconds),
        "lane_seconds": {
            f"{kind.value}:{cause.value}" if cause else kind.value: seconds
            for (kind, cause), seconds in schedule.lane_seconds().items()
        },
        "spans": [span.model_dump(mode="json") for span in drawn],
    }


def num_batches_within(schedules: Sequence[Schedule], max_spans: int) -> int:
    """As many first batches as have at most `max_spans` spans in each of the schedules; at least one."""
    number = len(schedules[0].batch_ends)
    for schedule in schedules:
        starts = [span.start for span in schedule.spans]
        if len(starts) > max_spans:
            whole = sum(end <= starts[max_spans] for end in schedule.batch_ends)
            number = min(number, max(1, whole))
    return number
