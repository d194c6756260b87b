"""A run's schedule log replays to the same actions, whatever happened in the run."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.pools import Pool, pools_of
from tests.scheduling.random_executor import RandomExecutor
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of, settings_of_runs
from worker.contracts.names import LaneRole, TrainerAssist
from worker.scheduling.core.messages import Generate, LaneJoined, LaneLost, Pull
from worker.scheduling.core.protocol import ProtocolError
from worker.scheduling.replay.__main__ import main
from worker.scheduling.replay.log_replay import differences
from worker.scheduling.replay.recorded_scheduler import RecordedScheduler
from worker.scheduling.replay.schedule_log import Applied, Asked, Line, ScheduleStart, dump_line, parse_line
from worker.scheduling.simulator.simulator import Simulator


def start_of(run: Settings) -> ScheduleStart:
    return ScheduleStart(
        algebra=run.algebra,
        pipeline=run.pipeline,
        advantage_std=run.advantage_std,
        first_batch=run.first_batch,
        num_batches=run.num_batches,
        policy_version=run.first_version,
        first_batch_version=run.first_batch_version,
        lends_together=run.lends_together,
        equal_counts=run.equal_counts,
    )


def recorded(run: Settings, seed: int) -> list[Line]:
    """The log of a run in which work ends in random order, lanes come and go, and users ask for this and that."""
    lines: list[Line] = []
    executor = RandomExecutor(run, seed)
    executor.scheduler = RecordedScheduler(start_of(run), lines.append)
    executor.run()
    return lines


def simulated(run: Settings, pool: Pool) -> list[Line]:
    """The log of a run in virtual time, with costs by which lending is searched for."""
    lines: list[Line] = []
    scheduler = RecordedScheduler(start_of(run), lines.append)
    Simulator(scheduler, pool.lanes, pool.costs, None, incidents=pool.incidents).run()
    return lines


@settings(max_examples=60, deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=st.integers(0, 2**32))
def test_any_run_replays_to_its_own_actions(run: Settings, seed: int) -> None:
    lines = recorded(run, seed)
    written = [parse_line(dump_line(line)) for line in lines]
    assert written == lines, "what is read is what was written"
    assert list(differences(written)) == []


@settings(max_examples=40, deadline=None)
@given(data=st.data(), run=settings_of_runs())
def test_a_run_that_searches_what_to_lend_replays_to_the_same_loans(data: st.DataObject, run: Settings) -> None:
    lines = simulated(replace(run, tag=TrainerAssist.SEARCH) if not run.is_colocated else run, data.draw(pools_of(run)))
    assert list(differences(lines)) == []


RUN = Settings(algebra=algebra_of(groups_per_minibatch=2, fragments=(2, 2)), num_batches=2, num_rollout=2)


def test_a_log_that_was_tampered_with_is_found_out_where_it_was() -> None:
    lines = recorded(RUN, seed=3)
    index, asked = next(
        (index, line)
        for index, line in enumerate(lines)
        if isinstance(line, Asked) and any(isinstance(action, Generate) for action in line.actions)
    )
    lines[index] = Asked(asked.at, tuple(action for action in asked.actions if not isinstance(action, Generate)))
    first = next(differences(lines))
    assert (first.line, first.replayed) == (index + 1, asked.actions)
    assert not any(isinstance(action, Generate) for action in first.recorded)


def test_calls_that_changed_nothing_are_left_out() -> None:
    lines: list[Line] = []
    scheduler = RecordedScheduler(start_of(RUN), lines.append)
    for at in range(100):
        scheduler.next_actions(float(at))
    scheduler.apply(LaneJoined("rollout-0", LaneRole.ROLLOUT, None), 100.0)
    scheduler.next_actions(100.0)
    scheduler.next_actions(100.2)
    assert [type(line) for line in lines] == [ScheduleStart, Applied, Asked]
    assert lines[-1] == Asked(100.0, (Pull("rollout-0", RUN.first_version),))


def test_an_event_that_fails_the_run_is_in_its_log() -> None:
    lines: list[Line] = []
    scheduler = RecordedScheduler(start_of(RUN), lines.append)
    with pytest.raises(ProtocolError):
        scheduler.apply(LaneLost("never joined"), 1.0)
    assert lines[-1] == Applied(1.0, LaneLost("never joined"))


def test_a_log_without_its_beginning_says_so() -> None:
    with pytest.raises(ValueError, match=r"must begin with `start`.*first part is missing"):
        list(differences(recorded(RUN, seed=1)[1:]))


@pytest.mark.parametrize("text", ["{}", '{"at":1.0}', "[]", '{"at":1.0,"event":{"type":"Exploded"}}'])
def test_a_line_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must hold `start`|must be one of"):
        parse_line(text)


def test_the_command_replays_parts_that_follow_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [dump_line(line) + "\n" for line in recorded(RUN, seed=5)]
    parts = [gzip.compress("".join(part).encode()) for part in (texts[:20], texts[20:])]
    log = tmp_path / "schedule.jsonl.gz"
    log.write_bytes(b"".join(parts))
    assert main([str(log)]) == 0
    assert "1 schedulers" in capsys.readouterr().out
    texts = [dump_line(line) + "\n" for line in recorded(RUN, seed=5)]
    log.write_bytes(gzip.compress("".join(texts[:20] + texts[40:]).encode()))
    assert main([str(log)]) == 1
    assert "a part of its log is missing before" in capsys.readouterr().out
