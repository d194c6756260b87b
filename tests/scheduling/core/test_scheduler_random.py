"""Thousands of random schedules. `ProtocolChecker` checks every action; here are the claims about whole runs."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.random_executor import RandomExecutor, answer
from tests.scheduling.run_settings import Settings, kept_draw, skipped_groups
from tests.scheduling.strategies import algebra_of, settings_of_runs
from tests.slow_params import examples
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.scheduling.core.batching import num_micro_batches_per_group
from worker.scheduling.core.messages import Action, Event, Fragment, FragmentKey, LaneLost, MicroBatchKey, Purpose

seeds = st.integers(0, 2**32)


def trained_fragments(executor: RandomExecutor) -> dict[FragmentKey, Fragment]:
    """By key: every fragment that was generated for training."""
    return {key: fragment for key, fragment in executor.checker.generated.items() if key.purpose is Purpose.TRAIN}


def samples_of(executor: RandomExecutor) -> list[tuple[int, int, int]]:
    """(batch, group, member) of every trajectory generated for training, with repeats."""
    return sorted(
        (key.batch, key.group, member)
        for key, fragment in trained_fragments(executor).items()
        for member in fragment.members
    )


def reference_samples(run: Settings) -> list[tuple[int, int, int]]:
    return [
        (batch, group, member)
        for batch in range(run.first_batch, run.num_batches)
        for group in range(run.algebra.num_groups)
        for member in range(run.algebra.group_size)
    ]


def reference_training(run: Settings) -> list[tuple[int, int, int, MicroBatchKey]]:
    """(batch, epoch, mini-batch, key) of every micro-batch."""
    return [
        (batch, epoch, run.algebra.minibatch_of(group), MicroBatchKey(group, index))
        for batch in range(run.first_batch, run.num_batches)
        for epoch in range(run.algebra.num_epochs)
        for group in range(run.algebra.num_groups)
        if group not in skipped_groups(run, batch)
        for index in range(num_micro_batches_per_group(run.algebra))
    ]


def check_draws(executor: RandomExecutor) -> None:
    """Of each group the draw is kept that its rewards decide on, and every draw before it was dropped, whole."""
    run = executor.settings
    kept = {(key.batch, key.group): fragment.draw for key, fragment in trained_fragments(executor).items()}
    assert kept == {at: kept_draw(run, *at).draw for at in kept}
    assert sorted((each.key, each.draw) for each in executor.checker.dropped) == sorted(
        (key, draw) for key in trained_fragments(executor) for draw in range(kept[key.batch, key.group])
    )


def check_versions(executor: RandomExecutor) -> None:
    """Each batch is of one version, at most `max_staleness` behind; at staleness 0 that determines it."""
    run, checker = executor.settings, executor.checker
    fragments = trained_fragments(executor).values()
    assert {(fragment.key.batch, fragment.policy_version) for fragment in fragments} == set(
        checker.batch_versions.items()
    )
    assert all(0 <= staleness <= run.max_staleness for staleness in checker.staleness.values())
    if run.max_staleness == 0:
        assert checker.batch_versions == {
            batch: batch + run.version_of_batch_0 for batch in range(run.first_batch, run.num_batches)
        }


def check_whole_run(executor: RandomExecutor) -> None:
    run, checker = executor.settings, executor.checker
    last_version = run.num_batches + run.version_of_batch_0
    assert samples_of(executor) == reference_samples(run)
    check_versions(executor)
    check_draws(executor)
    assert sorted(checker.accumulated) == reference_training(run)
    if run.deterministic:
        assert checker.accumulated == reference_training(run)
    assert checker.committed == sorted({at[:3] for at in reference_training(run)})
    assert checker.published == list(range(run.first_version + 1, last_version + 1))
    assert executor.scheduler.state.batches_completed == run.num_batches
    assert executor.scheduler.state.policy_version == last_version
    assert {checker.held_version[lane] for lane in checker.lanes(LaneRole.ROLLOUT)} <= {last_version}
    assert all(checker.serves[lane] is role for lane, role in checker.roles.items()), "every lent lane is returned"
    assert checker.scored == set(checker.generated)
    assert checker.num_evaluations_complete == len(checker.requested)
    assert not checker.under_way


def check_replay(run: Settings, seed: int, num_iterations: int) -> None:
    """Lose a trainer lane after `num_iterations`, and start again from the version published last."""
    before = RandomExecutor(run, seed)
    before.begin()
    for _ in range(num_iterations):
        if before.scheduler.state.is_finished:
            return
        before.iterate()
    scheduler, checker = before.scheduler, before.checker
    lost = checker.lanes(LaneRole.TRAINER)[-1]
    checker.record_lost(lost)
    before.apply(LaneLost(lost))
    assert scheduler.state.trainer_lost
    assert scheduler.next_actions(before.now) == []
    for worker in before.random.sample(checker.lanes(*LaneRole), len(checker.roles)):
        if worker in checker.under_way:
            before.apply(answer(checker.under_way[worker], share_without_spread=run.share_without_spread))
            assert scheduler.next_actions(before.now) == [], "what was under way ends, nothing else begins"

    version = scheduler.state.next_batch_version
    assert version == checker.batch_versions.get(checker.head, version)
    after = RandomExecutor(
        replace(run, first_batch=checker.head, first_batch_is_stale=version < checker.trainer_version), seed + 1
    )
    check_whole_run(after.run())
    again = [*trained_fragments(after).values(), *after.checker.dropped]
    for fragment in [*trained_fragments(before).values(), *checker.dropped]:
        if fragment.key.batch == checker.head:
            assert fragment in again, "the same seeds under the same version"


@settings(max_examples=examples(80, 600), deadline=None)
@given(run=settings_of_runs(), seed=seeds)
def test_every_schedule_trains_on_the_reference_samples_exactly_once_an_epoch(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@pytest.mark.parametrize("seed", [191, 263])
def test_what_users_ask_for_is_drawn_after_a_colocated_gang_has_been_called_back(seed: int) -> None:
    run = Settings(
        algebra=algebra_of(num_minibatches=3, groups_per_minibatch=1, fragments=(1, 2), num_epochs=2),
        placement=Placement.COLOCATED,
        lends_together=True,
        equal_counts=True,
        gap=False,
        tsp=False,
        num_rollout=0,
        num_reward=2,
        num_trainer=4,
        disturbance=0.15,
    )
    check_whole_run(RandomExecutor(run, seed).run())


@settings(max_examples=examples(120, 800), deadline=None)
@given(run=settings_of_runs(disturbance=0.15), seed=seeds)
def test_lanes_lost_and_joined_pauses_and_requests_change_nothing_in_what_is_trained(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@settings(max_examples=examples(40, 100), deadline=None)
@given(run=settings_of_runs(disturbance=0.6), seed=seeds)
def test_a_run_under_constant_disturbance_still_ends(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@settings(max_examples=examples(40, 100), deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=seeds)
def test_the_same_events_give_the_same_actions(run: Settings, seed: int) -> None:
    reactions: list[tuple[int, float, list[Action]]] = []

    def note(executor: RandomExecutor, _events: list[Event], actions: list[Action]) -> None:
        reactions.append((len(executor.events), executor.now, actions))

    executor = RandomExecutor(run, seed, observe=note).run()
    again = run.scheduler()
    done = 0
    for num_events, at, actions in reactions:
        for event, happened_at in executor.events[done:num_events]:
            again.apply(event, happened_at)
        done = num_events
        assert again.next_actions(at) == actions


@settings(max_examples=examples(40, 100), deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=seeds)
def test_at_staleness_0_every_mode_trains_on_the_fragments_of_colocated_lanes(run: Settings, seed: int) -> None:
    strict = replace(run, max_staleness=0, first_batch_is_stale=False)
    baseline = replace(strict, placement=Placement.COLOCATED, tag=TrainerAssist.OFF, num_rollout=0, disturbance=0.0)
    of_mode = RandomExecutor(strict, seed).run()
    of_baseline = RandomExecutor(baseline, seed + 1).run()
    assert trained_fragments(of_mode) == trained_fragments(of_baseline)
    assert sorted(of_mode.checker.accumulated) == sorted(of_baseline.checker.accumulated)


@pytest.mark.parametrize("placement", [Placement.COLOCATED, Placement.DISAGGREGATED])
def test_more_lanes_than_fragments_are_no_trouble(placement: Placement) -> None:
    is_colocated = placement is Placement.COLOCATED
    run = Settings(
        algebra=algebra_of(),
        placement=placement,
        tag=TrainerAssist.OFF if is_colocated else TrainerAssist.GREEDY,
        num_rollout=0 if is_colocated else 20,
        num_reward=20,
        num_trainer=20,
    )
    check_whole_run(RandomExecutor(run, 0).run())


@settings(max_examples=examples(25, 60), deadline=None)
@given(run=settings_of_runs(disturbance=0.05), seed=seeds)
def test_a_resumed_run_trains_what_was_left(run: Settings, seed: int) -> None:
    uninterrupted = RandomExecutor(replace(run, first_batch=0, first_batch_is_stale=False), seed).run()
    rest = RandomExecutor(run, seed).run()
    assert samples_of(rest) == [sample for sample in samples_of(uninterrupted) if sample[0] >= run.first_batch]


@settings(max_examples=examples(60, 200), deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=seeds, num_iterations=st.integers(0, 120))
def test_a_lost_trainer_lane_ends_all_work_and_a_new_gang_replays_from_the_last_boundary(
    run: Settings, seed: int, num_iterations: int
) -> None:
    check_replay(run, seed, num_iterations)


# --- thousands more, for `make test-full` -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=8_000, deadline=None)
@given(run=settings_of_runs(), seed=seeds)
def test_thousands_of_undisturbed_schedules(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=12_000, deadline=None)
@given(run=st.sampled_from([0.05, 0.15, 0.5]).flatmap(settings_of_runs), seed=seeds)
def test_thousands_of_disturbed_schedules(run: Settings, seed: int) -> None:
    check_whole_run(RandomExecutor(run, seed).run())


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=4_000, deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=seeds, num_iterations=st.integers(0, 200))
def test_thousands_of_lost_trainer_lanes(run: Settings, seed: int, num_iterations: int) -> None:
    check_replay(run, seed, num_iterations)
