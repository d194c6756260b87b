"""A replay under a run's own settings is what happened; one under others is near what would have happened.

The runs are simulated with costs far from any profile, a slow lane and noise, of which a replay knows only the log.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.scheduling.rescheduling.recorded_runs import TrueCosts, later, run_for_real, spec_of
from worker.contracts.names import LaneRole
from worker.scheduling.core.messages import Generate
from worker.scheduling.profiles.hardware import CPU_CORE, H100
from worker.scheduling.replay.schedule_log import Applied, Asked, Line
from worker.scheduling.rescheduling.recorded_run import recorded_run
from worker.scheduling.rescheduling.recording import NothingRecorded, read_recording
from worker.scheduling.rescheduling.reschedule import Setting, errors, measured, reschedule
from worker.scheduling.simulator.simulated_lanes import Loss

NOISY = TrueCosts(noise=0.25, slow={"rollout-1": 1.6})
ON_POLICY: dict[str, Any] = {}
WITHOUT_GAP: dict[str, Any] = {"gap": False, "tsp": False}
STALE: dict[str, Any] = {"max_staleness": 1}
LENDING: dict[str, Any] = {"tag": "greedy"}
COLOCATED: dict[str, Any] = {"placement": "colocated"}
"""Such a run has no rollout lanes, so it cannot know that one of them is slow."""
EXTRAS: dict[str, Any] = {"evaluates_after": [0, 2], "saves_after": [1]}


def setting_of(**pipeline: Any) -> Setting:
    spec = spec_of(**pipeline)
    return Setting(
        pipeline=spec.pipeline,
        fragment_size=2,
        num_rollout=spec.lanes.num_rollout,
        num_trainer=spec.lanes.num_trainer,
        num_reward=1,
    )


@pytest.mark.parametrize(
    ("own", "within"),
    # No two schedules have the same switches of roles, so each takes what they take on average.
    [(ON_POLICY, 1e-4), (WITHOUT_GAP, 1e-4), (STALE, 1e-4), (LENDING, 0.02), (COLOCATED, 0.02)],
    ids=str,
)
def test_a_replay_as_it_ran_is_what_happened(own: dict[str, Any], within: float) -> None:
    past = run_for_real(spec_of(4, **own), NOISY, **EXTRAS)
    run = past.recorded
    again = reschedule(run, Setting.of(run))
    assert again.batch_ends == pytest.approx(past.published, rel=within)
    assert measured(run).batch_ends == pytest.approx(past.published, rel=1e-4)
    assert measured(run).began_at == 1.7e9
    found = errors(run, again)
    assert abs(found.recorded) < within and abs(found.costs) < 0.1


@pytest.mark.parametrize(
    ("own", "other"),
    [(ON_POLICY, STALE), (ON_POLICY, WITHOUT_GAP), (WITHOUT_GAP, ON_POLICY), (STALE, LENDING), (COLOCATED, ON_POLICY)],
    ids=str,
)
def test_a_replay_otherwise_is_near_what_would_have_happened(own: dict[str, Any], other: dict[str, Any]) -> None:
    true = TrueCosts(noise=NOISY.noise) if own is COLOCATED else NOISY
    run = run_for_real(spec_of(6, **own), true, seed=1, **EXTRAS).recorded
    predicted = reschedule(run, setting_of(**other), with_spans=False).seconds
    truths = [run_for_real(spec_of(6, **other), true, seed=seed, **EXTRAS).published[-1] for seed in (7, 8, 9)]
    assert predicted == pytest.approx(sum(truths) / len(truths), rel=0.1)


def test_lanes_that_the_run_did_not_have_are_like_its_own() -> None:
    true = TrueCosts(noise=0.1)
    run = run_for_real(spec_of(4), true).recorded
    wide = spec_of(4).model_copy(update={"lanes": spec_of().lanes.model_copy(update={"num_rollout": 6})})
    predicted = reschedule(run, replace(Setting.of(run), num_rollout=6)).seconds
    assert predicted == pytest.approx(run_for_real(wide, true, seed=5).published[-1], rel=0.1)
    assert predicted < 0.9 * measured(run).seconds


def test_a_piece_that_took_long_takes_long_under_every_schedule() -> None:
    past = run_for_real(spec_of(3), TrueCosts())
    slow = [*_with_a_straggler(past.lines, seconds=30.0)]
    usual, straggling = past.recorded, recorded_run(past.spec, read_recording(slow), {})
    stale = setting_of(**STALE)
    assert reschedule(straggling, stale).seconds > reschedule(usual, stale).seconds + 15


def test_a_faster_device_takes_the_measured_seconds_by_the_profiles_proportion() -> None:
    past = run_for_real(spec_of(3), TrueCosts())
    recording = read_recording(past.lines)
    run = recorded_run(past.spec, recording, dict.fromkeys(recording.lanes, "cpu"))
    same = reschedule(run, replace(Setting.of(run), device=CPU_CORE)).seconds
    assert same == pytest.approx(measured(run).seconds, rel=1e-3)
    assert reschedule(run, replace(Setting.of(run), device=H100)).seconds < 0.5 * same


def test_a_recording_is_the_longest_stretch_on_the_same_lanes() -> None:
    past = run_for_real(spec_of(8), NOISY, incidents=[Loss(30.0, "rollout-1")])
    run = past.recorded
    batches = run.recording.batches
    assert "rollout-1" not in run.recording.lanes and batches[-1] == 7 and batches[0] > 0
    assert run.recording.version_before(batches[0]) == batches[0]
    again = reschedule(run, Setting.of(run))
    assert again.first_batch > batches[0], "the first batches only warm up"
    assert again.seconds == pytest.approx(measured(run).seconds, rel=0.02)


def test_a_long_recording_is_cut_to_its_last_batches() -> None:
    recording = run_for_real(spec_of(6), NOISY).recorded.recording.last_batches(3 * 32)
    assert recording.batches == range(3, 6)


def test_a_log_without_a_whole_batch_is_refused() -> None:
    lines = run_for_real(spec_of(2), NOISY).lines
    with pytest.raises(NothingRecorded, match="no batch"):
        read_recording(lines[:40])
    with pytest.raises(NothingRecorded, match="first part is missing"):
        read_recording(lines[1:40])


def test_lanes_tile_the_replayed_time() -> None:
    run = run_for_real(spec_of(3), NOISY, **EXTRAS).recorded
    schedule = reschedule(run, Setting.of(run))
    assert sum(schedule.lane_seconds().values()) == pytest.approx(6 * schedule.seconds)
    assert {lane.partition("-")[0] for lane in {span.lane for span in schedule.spans}} == set(LaneRole)


def _with_a_straggler(lines: Sequence[Line], *, seconds: float) -> list[Line]:
    """The log of the same run, in which the answer to the first call to generate came so much later, as did all that
    followed."""
    asked = next(line for line in lines if isinstance(line, Asked) and _generates(line))
    lane = next(action.lane for action in asked.actions if isinstance(action, Generate))
    answered = next(i for i, line in enumerate(lines) if isinstance(line, Applied) and _is_of(line, lane))
    moved = [later(line, seconds) for line in lines[answered:]]
    return [*lines[:answered], *moved]


def _generates(asked: Asked) -> bool:
    return any(isinstance(action, Generate) for action in asked.actions)


def _is_of(line: Applied, lane: str) -> bool:
    return type(line.event).__name__ == "Generated" and getattr(line.event, "lane", None) == lane
