"""Replays a run: its schedule log under other switches, another split or another device.

    schedule log (gallery) ─► Recording ─► RecordedRun ─┬► as it ran: the error
    lanes' devices (telemetry) ────────────────┘        └► as asked for

Invariant: no transaction is open while the scheduler works, one replay at a time is computed for a user, and its work
is bounded; what is answered carries the error of the same computation on what really happened.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError

from accounts.models import User
from analysis.replay.replay_body import ReplayBody, ReplaySchedule, SecondsRange, num_batches_within, schedule_body
from fleet.device_profiles import profile_name
from gallery.artifacts import schedule_log
from gallery.storage import open_to_read
from runs.advisory_lock import advisory_lock
from runs.models import Run
from runs.spec_check import WHOLE_SPEC, check_spec
from telemetry.selectors import lanes_of, last_stream_seq
from telemetry.timeline.bubbles import bubbles
from telemetry.timeline.timeline_spans import spans_between
from worker.contracts.names import LaneRole, Placement
from worker.contracts.run_spec import RunSpec
from worker.contracts.spans import SpanKind
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.replay.schedule_log import Line, parse_line
from worker.scheduling.rescheduling.recorded_run import RecordedRun, recorded_run
from worker.scheduling.rescheduling.recording import NothingRecorded, read_recording
from worker.scheduling.rescheduling.reschedule import ReplayTooLong, Schedule, Setting, errors, measured, reschedule

MAX_FRAGMENTS = 6000
"""Fragments that are replayed, of the newest batches: three simulations of 60 µs a fragment, or five on another device,
with room for slow machines."""
MAX_LOG_BYTES = 24 * 2**20
"""Of a compressed log: about 2,000,000 lines, which take a minute to read."""
MAX_SPANS = 4000
"""Spans of a drawn schedule."""
SWITCHES = ("placement", "gap", "tsp", "tag", "max_staleness")
_PARTS = frozenset({SpanKind.DECODE.value, SpanKind.ENCODE.value, SpanKind.EVALUATE.value})
"""Classes that only real lanes tell apart from generation and scoring."""
LANES = ("num_rollout", "num_trainer", "num_reward")


class ReplayRefused(Exception):
    """The run cannot be replayed, or not now; the message says why."""


def replay(*, user: User, run: Run, asked: Mapping[str, Any]) -> ReplayBody:
    """The run's newest recorded batches as they were, and under the settings asked for.

    Args:
        asked: any of `SWITCHES` and `LANES`, `fragment_size`, and `device`, a name in `hardware.ACCELERATORS`; what is
            absent stays as it was.

    Raises:
        ReplayRefused: for a run without a usable log, and while another replay of the user's is computed.
        ValidationError: for settings that do not go together, by field.
    """
    key = zlib.crc32(f"replay/{user.pk}".encode())
    with advisory_lock(key, wait=False) as is_held:
        if not is_held:
            raise ReplayRefused("another replay of yours is being computed: wait until it is done")
        try:
            return _replay(run, asked)
        except (NothingRecorded, ReplayTooLong) as error:
            raise ReplayRefused(str(error)) from error


def _scored(run: Run) -> RunSpec:
    """The run's spec with rewards on what its last attempt had."""
    spec, last = RunSpec.model_validate(run.spec), run.attempts.last()
    return spec if last is None else spec.scoring_on(last.concrete_spec.lanes.rewards_on)


def _replay(run: Run, asked: Mapping[str, Any]) -> ReplayBody:
    recording = read_recording(_lines(run.pk)).last_batches(MAX_FRAGMENTS)
    profiles = {lane["lane"]: name for lane in lanes_of(run.pk) if (name := profile_name(lane["device"])) is not None}
    past = recorded_run(_scored(run), recording, profiles)
    spec, setting = _setting(past, asked)
    truth, own, chosen = measured(past), reschedule(past, Setting.of(past)), reschedule(past, setting)
    found = errors(past, own)
    num_drawn = num_batches_within([own, chosen], MAX_SPANS)
    own_body = schedule_body(own, until=0.0)
    return {
        "first_batch": truth.first_batch + 1,
        "num_batches": len(truth.batch_ends),
        "num_batches_drawn": num_drawn,
        "measured": _measured_body(run.pk, past, truth, until=truth.batch_ends[num_drawn - 1]),
        "own": own_body,
        "chosen_range": _range_on_device(past, setting),
        "chosen": schedule_body(chosen, until=chosen.batch_ends[num_drawn - 1]),
        "errors": {"recorded": found.recorded, "costs": found.costs},
        "spec": spec.model_dump(mode="json"),
        "warnings": _warnings(past, spec, setting),
    }


def _range_on_device(past: RecordedRun, setting: Setting) -> SecondsRange | None:
    """The seconds on another device, as slow and as fast at arithmetic as its profile's sources allow."""
    if setting.device is None:
        return None
    slow, fast = (
        reschedule(past, replace(setting, device=setting.device.with_efficiency_at(end)), with_spans=False).seconds
        for end in ("low", "high")
    )
    return {"least": min(slow, fast), "most": max(slow, fast)}


def _lines(run_id: UUID) -> Iterator[Line]:
    parts = schedule_log(run_id)
    if not parts:
        raise ReplayRefused("this run has no schedule log: its first part comes with the first batch")
    if sum(part.num_bytes for part in parts) > MAX_LOG_BYTES:
        raise ReplayRefused(
            f"the run's schedule log has more than {MAX_LOG_BYTES // 2**20} MiB, too much to replay here: "
            "download it and use `python -m worker.scheduling.replay`"
        )
    for part in parts:
        with open_to_read(part.storage_key) as stored, gzip.open(stored, "rt", encoding="utf-8") as file:
            yield from map(parse_line, file)


def _setting(past: RecordedRun, asked: Mapping[str, Any]) -> tuple[RunSpec, Setting]:
    """The spec with what was asked for, checked as any spec is, and how its work is to be scheduled."""
    document = past.spec.model_dump(mode="json")
    document["pipeline"] |= {name: asked[name] for name in SWITCHES if name in asked}
    document["lanes"] |= {name: asked[name] for name in LANES if name in asked}
    document["batch"]["fragment_size"] = asked.get("fragment_size", past.recording.start.algebra.fragment_size)
    is_colocated = document["pipeline"]["placement"] == Placement.COLOCATED
    if is_colocated and "num_trainer" not in asked:
        document["lanes"]["num_trainer"] += document["lanes"]["num_rollout"]
    if is_colocated:
        document["lanes"]["num_rollout"] = 0
        document["pipeline"] |= {"max_staleness": 0, "tag": "off"}
    report = check_spec(document, is_hypothetical=True)
    if report.spec is None:
        # `lanes.num_trainer` is asked for as `num_trainer`.
        raise ValidationError({_field_of(path): texts for path, texts in report.errors.items()})
    spec, name = report.spec, asked.get("device")
    if name is not None and not past.has_profiles:
        raise ValidationError({"device": "the run's own devices have no profile to compare another device with"})
    return spec, Setting(
        pipeline=spec.pipeline,
        fragment_size=spec.algebra.fragment_size,
        num_rollout=spec.lanes.num_rollout,
        num_trainer=spec.lanes.num_trainer,
        num_reward=spec.lanes.num_reward,
        device=None if name is None else accelerator(name),
    )


def _field_of(path: str) -> str:
    return "__all__" if path == WHOLE_SPEC else path.rpartition(".")[2]


def _measured_body(run_id: UUID, past: RecordedRun, truth: Schedule, *, until: float) -> ReplaySchedule:
    """The same batches from the spans that their lanes reported."""
    start, end = truth.began_at, truth.began_at + truth.seconds
    by_lane = bubbles(run_id, start=start, end=end)["by_lane"]
    seconds: dict[str, float] = {}
    for lane in past.recording.lanes:
        for found, part in by_lane.get(lane, {}).items():
            name = _as_replayed(found, past.recording.lanes[lane])
            seconds[name] = seconds.get(name, 0.0) + part
    up_to = last_stream_seq(run_id)
    spans = spans_between(run_id, up_to=up_to, start=start, end=start + until, limit=MAX_SPANS)
    return {
        "seconds": truth.seconds,
        "batch_seconds": list(truth.batch_seconds),
        "lane_seconds": seconds,
        "spans": [
            {
                **{name: value for name, value in span.items() if name != "num_spans"},
                "start": max(span["start"] - start, 0.0),
                "end": min(span["end"] - start, until),
            }
            for span in spans
            if span["lane"] in past.recording.lanes
        ],
    }


def _as_replayed(name: str, role: LaneRole) -> str:
    """The class that a replay has for it: a fragment is generated or scored as a whole, for an evaluation too."""
    if name not in _PARTS:
        return name
    return (SpanKind.SCORE if role is LaneRole.REWARD else SpanKind.GENERATE).value


def _warnings(past: RecordedRun, spec: RunSpec, setting: Setting) -> list[str]:
    own, found = Setting.of(past), list[str]()
    if setting.device is not None:
        found.append(
            f"The seconds on {setting.device.name.upper()} follow from the measured ones and from how the two profiles "
            "differ, which no run has checked."
        )
        found += memory_warnings(spec, [setting.device])
    if setting.fragment_size != own.fragment_size:
        found.append("Fragments of this size were not measured; what one costs is inferred from the profile.")
    if setting.num_rollout + setting.num_trainer > own.num_rollout + own.num_trainer:
        found.append("Lanes that the run did not have are taken to be like those that it had.")
    return found
