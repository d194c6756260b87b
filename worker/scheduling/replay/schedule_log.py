"""The schedule log: lines of JSON that hold all a scheduler was given and all it answered.

    start   ── what it was built from: numbers of the batch, switches, position, costs known before
    event   ── one `apply`
    actions ── one `next_actions` and its answer
    pipeline ─ other switches and fragment size from then on

Times are seconds of the executor's clock (Unix time in a real run). Invariant: JSON holds floats exactly, so a line
that was written and read is the same line, and a replay sees the very times that the run saw.
"""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.base import Contract, Count, Index
from worker.contracts.events import WorkCost
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.messages import Action, Event

_MESSAGES: dict[str, TypeAdapter[Any]] = {kind.__name__: TypeAdapter(kind) for kind in get_args(Event | Action)}
_TYPE = "type"


class ScheduleStart(Contract):
    """What a scheduler is built from: all that `Scheduler` takes but the lending policy, which follows from these."""

    algebra: BatchAlgebra
    pipeline: PipelineSpec
    """The switches, with placement resolved."""
    advantage_std: Literal["group", "batch"]
    num_batches: Count
    lends_together: bool = False
    """Whether trainer lanes are lent all together or not at all."""
    equal_counts: bool = False
    """Whether ranks take equally many micro-batches in step."""
    first_batch: Index = 0
    """The number of the first batch to train, from 0: later than 0 after a resume."""
    policy_version: Index = 0
    """The policy version published last."""
    first_batch_version: Index | None = None
    """The version that the first batch had begun on before a resume, where it is older than `policy_version`."""
    prior_costs: tuple[WorkCost, ...] = ()
    """Cost estimates to use until the run has measured its own."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An event that the scheduler was given."""

    at: float
    event: Event


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of `next_actions` and the actions it returned."""

    at: float
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Revised:
    """Other switches, and another size of fragments, that the scheduler was given."""

    pipeline: PipelineSpec
    fragment_size: int


Line = ScheduleStart | Applied | Asked | Revised


def dump_line(line: Line) -> str:
    """One line of JSON, without the line break."""
    match line:
        case ScheduleStart():
            content: dict[str, Any] = {"start": line.model_dump(mode="json")}
        case Applied(at, event):
            content = {"at": at, "event": _dump(event)}
        case Revised(pipeline, fragment_size):
            content = {"pipeline": pipeline.model_dump(mode="json"), "fragment_size": fragment_size}
        case Asked(at, actions):
            content = {"at": at, "actions": [_dump(action) for action in actions]}
    return json.dumps(content, separators=(",", ":"))


def parse_line(text: str) -> Line:
    """The line that `dump_line` wrote. Raises `ValueError` for any other text."""
    content = json.loads(text)
    match content:
        case {"start": start}:
            return ScheduleStart.model_validate(start)
        case {"at": float(at) | int(at), "event": event}:
            return Applied(float(at), _parse(event))
        case {"pipeline": pipeline, "fragment_size": int(fragment_size)}:
            return Revised(PipelineSpec.model_validate(pipeline), fragment_size)
        case {"at": float(at) | int(at), "actions": list(actions)}:
            return Asked(float(at), tuple(_parse(action) for action in actions))
    raise ValueError(
        f"a line of a schedule log must hold `start`, `pipeline` with `fragment_size`, or `at` with `event` or "
        f"`actions`, got {text[:80]!r}: give the file that the run's `schedule` address serves"
    )


def _dump(message: Event | Action) -> dict[str, Any]:
    return {_TYPE: type(message).__name__, **dataclasses.asdict(message)}


def _parse(content: dict[str, Any]) -> Any:
    kind, fields = content.get(_TYPE), {name: value for name, value in content.items() if name != _TYPE}
    if kind not in _MESSAGES:
        raise ValueError(f"`type` of a message must be one of {', '.join(sorted(_MESSAGES))}, got {kind!r}")
    return _MESSAGES[kind].validate_python(fields)
