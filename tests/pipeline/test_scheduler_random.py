"""Thousands of random schedules. The executor asserts at every action; here stands what must hold of whole runs."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.random_executor import RandomExecutor, Settings
from tests.pipeline.strategies import algebra_of, settings_of_runs
from worker.contracts.names import Role
from worker.pipeline.types import Action, Event, Purpose

seeds = st.integers(0, 2**32)


def samples_of(executor: RandomExecutor) -> list[tuple[int, int, int, int]]:
    """(batch, group, member, policy version) of everything generated to train on, with repeats."""
    return sorted(
        (key.batch, key.group, member, version)
        for key, (members, version) in executor.generated.items()
        for member in members
        if key.purpose is Purpose.TRAIN
    )


def reference_samples(run: Settings) -> list[tuple[int, int, int, int]]:
    return [
        (batch, group, member, batch + 10)
        for batch in range(run.first_batch, run.num_batches)
        for group in range(run.algebra.num_groups)
        for member in range(run.algebra.group_size)
    ]


def reference_training(run: Settings) -> list[tuple[int, int, int, int]]:
    return [
        (batch, epoch, run.algebra.minibatch_of(group), group)
        for batch in range(run.first_batch, run.num_batches)
        for epoch in range(run.algebra.num_epochs)
        for group in range(run.algebra.num_groups)
    ]


def check_whole_run(executor: RandomExecutor) -> None:
    run = executor.settings
    assert samples_of(executor) == reference_samples(run)
    assert sorted(executor.accumulated) == reference_training(run)
    if run.deterministic:
        assert executor.accumulated == reference_training(run)
    assert executor.committed == sorted({place[:3] for place in reference_training(run)})
    assert executor.published == [batch + 11 for batch in range(run.first_batch, run.num_batches)]
    assert executor.scheduler.batches_completed == run.num_batches
    assert executor.scheduler.policy_version == run.num_batches + 10
    held = {executor.held_version[lane] for lane, role in executor.roles.items() if role is Role.ROLLOUT}
    assert held <= {run.num_batches + 10}
    assert executor.scored == set(executor.generated)
    assert executor.num_evaluations_complete == len(executor.requested)


@settings(max_examples=800, deadline=None)
@given(run=settings_of_runs(), seed=seeds)
def test_every_schedule_trains_on_the_reference_samples_exactly_once_an_epoch(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@settings(max_examples=800, deadline=None)
@given(run=settings_of_runs(disturbance=0.15), seed=seeds)
def test_lanes_lost_and_joined_pauses_and_requests_change_nothing_in_what_is_trained(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@settings(max_examples=100, deadline=None)
@given(run=settings_of_runs(disturbance=0.6), seed=seeds)
def test_a_run_under_constant_disturbance_still_ends(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@settings(max_examples=100, deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=seeds)
def test_the_same_events_give_the_same_actions(run: Settings, seed: int) -> None:
    turns: list[tuple[int, list[Action]]] = []

    def note(executor: RandomExecutor, _event: Event | None, actions: list[Action]) -> None:
        turns.append((len(executor.events), actions))

    executor = RandomExecutor(run, seed, observe=note).run()
    again = run.scheduler()
    done = 0
    for num_events, actions in turns:
        for event in executor.events[done:num_events]:
            again.apply(event)
        done = num_events
        assert again.next_actions() == actions


def test_more_lanes_than_fragments_are_no_trouble() -> None:
    run = Settings(algebra=algebra_of(), num_rollout=20, num_reward=20, num_trainer=4)
    check_whole_run(RandomExecutor(run, 0).run())


@settings(max_examples=60, deadline=None)
@given(run=settings_of_runs(disturbance=0.05), seed=seeds)
def test_a_resumed_run_trains_what_was_left(run: Settings, seed: int) -> None:
    whole = RandomExecutor(replace(run, first_batch=0), seed).run()
    rest = RandomExecutor(run, seed).run()
    assert samples_of(rest) == [sample for sample in samples_of(whole) if sample[0] >= run.first_batch]
