"""Events of a driver in the words of the run's log: how severe, whose, and what happened in a sentence. Pure.

Invariant: what the log shows is what is stored, so a search finds every word that a reader sees.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from runs.models import LogLevel
from worker.contracts.events import (
    AdapterEvent,
    CheckpointEvent,
    CommandDoneEvent,
    EvaluationEvent,
    GateEvent,
    LogEvent,
    PhaseEvent,
    PlanEvent,
    PublishEvent,
    ResumedEvent,
    RewardChange,
    RewardHackingEvent,
    RunEvent,
    SamplesEvent,
    SoftwareEvent,
    StateEvent,
)
from worker.contracts.lane_events import (
    LanesEvent,
    LaneStallEvent,
    LaneStartEvent,
    LendEvent,
    OutOfMemoryEvent,
    SlowLanesEvent,
)
from worker.contracts.lanes import StallState
from worker.contracts.resizing import ResizeReport, ResizeState
from worker.contracts.states import RunState

DRIVER = "driver"
MIB = 1024 * 1024

_RESIZES = {ResizeState.ACCEPTED: "Resizing", ResizeState.DONE: "Resized", ResizeState.FAILED: "Resize failed"}

_STALLS = {
    StallState.SLOW: LogLevel.WARNING,
    StallState.SILENT: LogLevel.WARNING,
    StallState.HUNG: LogLevel.ERROR,
    StallState.WORKING: LogLevel.INFO,
}


@dataclass(frozen=True, slots=True)
class LogLine:
    """An entry of the log before it has a number."""

    level: LogLevel
    text: str
    source: str = DRIVER


def log_line(event: RunEvent) -> LogLine | None:
    """What the log says of an event; None for those that are drawn instead: metrics, spans, queues, costs."""
    match event:
        case LogEvent(level=level, source=source, message=message):
            return LogLine(LogLevel(level), message, source)
        case StateEvent() | CommandDoneEvent() | GateEvent() | RewardHackingEvent() | LanesEvent():
            return _judged(event)
        case LaneStallEvent(state=state):
            return LogLine(_STALLS[state], _stall(event))
        case OutOfMemoryEvent(lane=lane, sentence=sentence):
            return LogLine(LogLevel.WARNING, f"{lane} {sentence}")
        case SlowLanesEvent(lanes=factors):
            return LogLine(LogLevel.WARNING if factors else LogLevel.INFO, _slow(factors))
        case SamplesEvent(samples=samples, batch=batch, purpose=purpose, policy_version=version):
            return LogLine(LogLevel.DEBUG, f"{len(samples)} samples of batch {batch} ({purpose}, v{version})")
        case PublishEvent():
            return LogLine(LogLevel.DEBUG, _published(event))
        case LendEvent():
            return LogLine(LogLevel.DEBUG, _lend(event))
        case LaneStartEvent(step=step, lanes=lanes):
            return LogLine(LogLevel.DEBUG, f"{', '.join(lanes)} {step}")
        case SoftwareEvent(versions=versions):
            return LogLine(LogLevel.DEBUG, ", ".join(f"{name} {version}" for name, version in versions.items()))
        case _:
            text = _milestone(event)
            return None if text is None else LogLine(LogLevel.INFO, text)


def _milestone(event: RunEvent) -> str | None:
    match event:
        case PhaseEvent(phase=phase, detail=detail):
            return f"Phase: {_spelt(phase)}{_after(detail)}"
        case ResumedEvent(batch=batch, policy_version=version):
            return f"Resumed after batch {batch}, policy v{version}"
        case EvaluationEvent(batch=batch, values=values):
            return f"Held-out evaluation after batch {batch}: {_values(values)}"
        case AdapterEvent(batch=batch, num_bytes=size, final=final, files=files):
            what = "weights" if len(files) > 1 else "LoRA"
            return f"{'Final ' if final else ''}{what} of batch {batch} saved, {_size(size)}"
        case CheckpointEvent(batch=batch, num_bytes=size):
            return f"Checkpoint after batch {batch}, {_size(size)}"
        case PlanEvent(batch=batch, reason=reason):
            return f"New plan after batch {batch}: {reason}"
        case _:
            return None


def _judged(event: StateEvent | CommandDoneEvent | GateEvent | RewardHackingEvent | LanesEvent) -> LogLine:
    """Events that may be bad news."""
    match event:
        case StateEvent(state=state, reason=reason, details=details):
            text = f"The driver reports: {state}{_after(reason)}"
            if state is RunState.FAILED:
                return LogLine(LogLevel.ERROR, f"{text}\n{details}".rstrip())
            # The change of state that follows says the same.
            return LogLine(LogLevel.DEBUG, text)
        case CommandDoneEvent(accepted=accepted, detail=detail):
            level = LogLevel.INFO if accepted else LogLevel.WARNING
            return LogLine(level, f"Command {'done' if accepted else 'refused'}{_after(detail)}")
        case GateEvent(gate=gate, batch=batch, passed=passed, values=values):
            verdict = f"{'passed' if passed else 'FAILED'}: {_values(values)}"
            level = LogLevel.DEBUG if passed else LogLevel.ERROR
            return LogLine(level, f"{_spelt(gate).capitalize()} gate of batch {batch} {verdict}")
        case RewardHackingEvent(suspected=suspected):
            return LogLine(LogLevel.WARNING if suspected else LogLevel.INFO, _reward_hacking(event))
        case LanesEvent(lanes=lanes, resize=None):
            return LogLine(LogLevel.INFO, f"{len(lanes)} lanes placed: {', '.join(lane.lane for lane in lanes)}")
        case LanesEvent(resize=resize):
            assert resize is not None
            return LogLine(LogLevel.ERROR if resize.state is ResizeState.FAILED else LogLevel.INFO, _resize(resize))


def _stall(event: LaneStallEvent) -> str:
    seconds = event.at - event.since
    known = f" ({event.longest_seconds:.2g} s at most so far)" if event.longest_seconds is not None else ""
    where = f"; it is in {' ← '.join(reversed(event.stack))}" if event.stack else ""
    match event.state:
        case StallState.WORKING:
            return f"{event.lane} goes on to {event.work}"
        case StallState.SLOW:
            until = f"it is ended at {event.limit_seconds:.0f} s"
            return f"{event.lane} has made no progress to {event.work} for {seconds:.0f} s{known}: {until}{where}"
        case StallState.SILENT:
            return f"The process of {event.lane}, which is to {event.work}, does not answer: soon it is ended{where}"
        case StallState.HUNG:
            return f"{event.lane} made no progress to {event.work} for {seconds:.0f} s{known} and is ended{where}"


def _slow(factors: Mapping[str, float]) -> str:
    if not factors:
        return "No lane is far slower than usual for its kind any more"
    lanes = ", ".join(f"{lane} takes {factor:.1f} × the time" for lane, factor in sorted(factors.items()))
    return f"Far slower than usual for their kind, as measured: {lanes}"


def _resize(report: ResizeReport) -> str:
    lanes = [f"{lane.lane} {_spelt(lane.step)}{_after(lane.detail)}" for lane in report.lanes]
    if report.trainer_seconds is not None:
        lanes.append(f"training stood still for {report.trainer_seconds.total:.1f} s")
    return f"{_RESIZES[report.state]}{_after(report.reason)}{_after(', '.join(lanes))}"


def _published(event: PublishEvent) -> str:
    size = _size(event.num_bytes)
    text = f"Published v{event.policy_version}: {event.num_tensors} tensors, {size}, {event.seconds:.2f} s"
    if event.num_direct or event.num_missed:
        text += f", {event.num_direct} lanes by broadcast, {event.num_missed} that it missed from the object store"
    return text


def _lend(event: LendEvent) -> str:
    lanes = f"{', '.join(event.lanes)} lent to generation in batch {event.batch}"
    if event.realised_gain_seconds is not None:
        return f"{lanes}: gained {event.realised_gain_seconds:.2f} s"
    predicted = event.predicted_gain_seconds
    return lanes if predicted is None else f"{lanes}, predicted to gain {predicted:.2f} s"


def _reward_hacking(event: RewardHackingEvent) -> str:
    return (
        f"Reward hacking {'suspected' if event.suspected else 'no longer suspected'}: over {event.num_batches} batches "
        f"the optimised reward changed by {_change(event.optimised_change)}, "
        f"the monitored {_spelt(event.monitored)} by {_change(event.monitored_change)}"
    )


def _change(change: RewardChange) -> str:
    return f"{change.change:+.2g} ± {change.standard_error:.1g}".replace("-", "−")


def _values(values: Mapping[str, float]) -> str:
    return ", ".join(f"{_spelt(name)} {value:.4g}" for name, value in values.items())


def _size(num_bytes: int) -> str:
    return f"{num_bytes / MIB:.1f} MiB" if num_bytes >= MIB else f"{num_bytes / 1024:.1f} KiB"


def _spelt(name: str) -> str:
    return name.replace("_", " ")


def _after(detail: str) -> str:
    return f": {detail}" if detail else ""
