"""Decisions on how a run goes on: worth their cost, within memory, steady under noise, the same for the same input."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.planning.synthetic_pools import ALIKE, FOUR_KINDS, lane, pool, request_for
from tests.slow_params import examples, slow_but
from worker.contracts.names import LaneRole, Placement
from worker.contracts.resizing import Resize, RoleChange, resize_problems
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.cost_estimates import LaneCosts
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.profiles.hardware import H100
from worker.scheduling.profiles.image_models import QWEN_IMAGE
from worker.scheduling.replanning.decision import Decision, Situation, decide, nearest_trainers
from worker.scheduling.replanning.reasons import reason_of

COLOCATED = PipelineSpec(placement=Placement.COLOCATED)
STALE = PipelineSpec.model_validate({"placement": "disaggregated", "max_staleness": 1, "tag": "off"})


def six(generate: float = 10.0, accumulate: float = 3.0) -> PlanRequest:
    request = request_for(pool([(generate, accumulate)], [6]), num_prompts=8)
    return replace(request, fragment_sizes=(4,))


def situation(request: PlanRequest, trainers: tuple[int, ...], **changes: object) -> Situation:
    fields: dict[str, object] = {
        "request": request,
        "present": Candidate(pipeline=STALE, trainers=trainers, fragment_size=4),
        "can_lend": True,
        "batches_left": 50,
        "move_seconds": 70.0,
    }
    return Situation(**(fields | changes))  # type: ignore[arg-type]


def test_lanes_move_where_that_pays_and_as_few_as_possible() -> None:
    decision = decide(situation(six(10.0, 9.0), (5,)))
    assert decision.is_change
    assert decision.renews_gang
    assert 5 in decision.candidate.trainers
    assert decision.batch_seconds < decision.seconds_before


def test_nothing_moves_where_the_move_costs_more_than_it_gains() -> None:
    asked = situation(six(10.0, 9.0), (5,), move_seconds=1e6)
    assert not decide(asked).renews_gang
    assert not decide(replace(asked, move_seconds=70.0, batches_left=0)).renews_gang


def test_nothing_moves_while_costs_are_less_certain_than_the_gain() -> None:
    asked = situation(six(10.0, 9.0), (5,), relative_error=0.5)
    assert not decide(asked).is_change


@pytest.mark.parametrize("seed", slow_but([0, 1], range(4)))
def test_a_plan_on_true_costs_stays_whatever_the_noise(seed: int) -> None:
    """±10 % on each kind of work, as after few observations, whose errors are known."""
    random, best = Random(seed), make_plan(six(), only_best=True).best.split_result.candidate
    noisy = six(10.0 * random.uniform(0.9, 1.1), 3.0 * random.uniform(0.9, 1.1))
    decision = decide(situation(noisy, best.trainers, present=best, relative_error=0.1 / 3**0.5 / 2**0.5))
    assert not decision.renews_gang
    assert not decision.release


def test_fragments_change_where_others_are_faster_and_the_lanes_stay() -> None:
    """13 trajectories a lane: in fragments of 8 the last lane generates alone for a fragment."""
    request = request_for(pool(ALIKE, [13]))
    present = Candidate(pipeline=STALE, trainers=tuple(range(7)), fragment_size=8)
    asked = situation(request, present.trainers, present=present, move_seconds=1e6)
    decision = decide(asked)
    assert decision.candidate.fragment_size < 8
    assert not decision.renews_gang
    assert f"fragments of {decision.candidate.fragment_size} instead of 8" in reason_of(asked, decision, [])
    kept = decide(replace(asked, request=replace(request, fragment_sizes=(8,))))
    assert kept.candidate.fragment_size == 8


def test_each_change_raises_what_the_next_must_gain() -> None:
    request = request_for(pool(ALIKE, [13]))
    present = Candidate(pipeline=STALE, trainers=tuple(range(7)), fragment_size=8)
    asked = situation(request, present.trainers, present=present, move_seconds=1e6)
    assert decide(replace(asked, num_changes=10)).candidate.fragment_size == 8


def test_colocated_lanes_may_be_given_other_fragments() -> None:
    request = request_for(pool(ALIKE, [6]), num_prompts=5)
    present = Candidate(pipeline=COLOCATED, trainers=tuple(range(6)), fragment_size=8)
    decision = decide(situation(request, present.trainers, present=present))
    assert decision.candidate.fragment_size < 8
    assert decision.candidate.pipeline.placement is Placement.COLOCATED
    assert not decision.renews_gang


def test_equal_situations_give_equal_decisions() -> None:
    asked = situation(request_for(pool(FOUR_KINDS, [2] * 4), num_prompts=2), (0, 1))
    asked = replace(asked, request=replace(asked.request, fragment_sizes=(4,)))
    assert decide(asked) == decide(asked)


def test_a_lane_far_slower_than_its_kind_is_named_and_given_back_where_a_batch_is_shorter_without_it() -> None:
    # A trajectory of the slow lane takes longer than all others together.
    lanes: tuple[LaneCosts, ...] = (*pool(ALIKE, [5]), lane(2000.0, 600.0))
    request = replace(request_for(lanes, num_prompts=8), fragment_sizes=(4,))
    asked = situation(request, (0, 1), speeds=(1.0,) * 5 + (200.0,))
    decision = decide(asked)
    assert decision.slow == (5,)
    assert decision.release == (5,)
    names = [f"rollout-{index}" for index in range(6)]
    assert "rollout-5 takes 200.0 × the usual time of its kind" in reason_of(asked, decision, names)
    assert "given back: rollout-5" in reason_of(asked, decision, names)


def on_devices(request: PlanRequest, memory_bytes: float) -> PlanRequest:
    """The request for Qwen-Image, fully tuned in ZeRO 3, on devices with so much memory."""
    work = replace(request.work, profile=QWEN_IMAGE, trained_parameters=QWEN_IMAGE.parameters, zero_stage=3)
    device = replace(H100, memory_bytes=memory_bytes)
    return replace(request, work=work, devices=(device,) * len(request.devices))


def test_a_slow_trainer_lane_stays_where_the_others_lack_memory_without_it() -> None:
    """296 GB are held by each of four lanes that train and generate, 338 GB by each of three, the reserve included."""
    request = replace(request_for((*pool(ALIKE, [3]), lane(2000.0, 600.0)), num_prompts=8), fragment_sizes=(4,))
    present = Candidate(pipeline=COLOCATED, trainers=(0, 1, 2, 3), fragment_size=4)
    asked = situation(request, present.trainers, present=present, speeds=(1.0, 1.0, 1.0, 200.0))
    assert decide(replace(asked, request=on_devices(request, 400e9))).release == (3,)
    assert decide(replace(asked, request=on_devices(request, 300e9))).release == ()


def test_trainer_lanes_that_lack_memory_to_generate_are_not_lent() -> None:
    """At staleness 1, 319 GB are held by each of four lanes that train, 403 GB if they generate, too."""
    asked = situation(six(), (0, 1, 2, 3), move_seconds=1e6)
    lent, kept = (decide(replace(asked, request=on_devices(six(), memory))) for memory in (420e9, 350e9))
    assert lent.candidate.pipeline.trainers_generate
    assert not kept.candidate.pipeline.trainers_generate


def test_trainer_lanes_that_cannot_generate_are_loaded_anew_where_lending_them_pays_for_that() -> None:
    best = make_plan(six(), only_best=True).best.split_result.candidate
    lent = decide(situation(six(), best.trainers))
    assert lent.candidate.pipeline.trainers_generate and not lent.renews_gang
    asked = situation(six(), best.trainers, can_lend=False)
    renewed = decide(asked)
    assert renewed.candidate.pipeline.trainers_generate and renewed.renews_gang
    assert set(renewed.candidate.trainers) == set(best.trainers)
    dear = decide(replace(asked, move_seconds=1e6))
    assert not dear.candidate.pipeline.trainers_generate and not dear.renews_gang


def test_colocated_lanes_have_nothing_to_move() -> None:
    present = Candidate(pipeline=COLOCATED, trainers=tuple(range(6)), fragment_size=4)
    assert not decide(situation(six(), present.trainers, present=present)).is_change


def two_lanes() -> Situation:
    """Training is most of the work, and disaggregated lanes divide it no better: one trains, staleness 1."""
    request = replace(request_for(pool([(3.0, 10.0)], [2]), num_prompts=8), fragment_sizes=(4,))
    return situation(request, (0,), can_lend=False)


def slow_commits(**wanted: object) -> Situation:
    """Six colocated lanes with commits of a quarter of a batch, in which nobody does anything else."""
    costs = replace(six().costs, lanes=(replace(lane(10.0, 3.0), commit=60.0),) * 6)
    request = replace(six(), costs=costs)
    wants = PipelineSpec.model_validate({"placement": "auto", "max_staleness": 1} | wanted)
    present = Candidate(pipeline=COLOCATED, trainers=tuple(range(6)), fragment_size=4)
    return situation(replace(request, wanted=wants), present.trainers, present=present)


def test_a_run_becomes_colocated_where_that_is_faster() -> None:
    decision = decide(asked := two_lanes())
    assert decision.candidate.pipeline.placement is Placement.COLOCATED
    assert decision.candidate.trainers == (0, 1)
    assert decision.drains and decision.renews_gang
    assert decision.batch_seconds < 0.9 * decision.seconds_before
    reason = reason_of(asked, decision, ["trainer-0", "rollout-0"])
    assert "from now on trainer: rollout-0" in reason
    assert "placement is colocated instead of disaggregated; staleness is at most 0 instead of 1" in reason


def test_a_colocated_run_becomes_disaggregated_where_that_is_faster() -> None:
    decision = decide(asked := slow_commits())
    after = decision.candidate.pipeline
    assert (after.placement, after.max_staleness) == (Placement.DISAGGREGATED, 1)
    assert 0 < len(decision.candidate.trainers) < 6
    assert decision.drains and decision.renews_gang
    assert "staleness is at most 1 instead of 0" in reason_of(
        asked, decision, [f"trainer-{index}" for index in range(6)]
    )


@pytest.mark.parametrize("wanted", [{"max_staleness": 0}, {"deterministic": True}], ids=str)
def test_staleness_is_not_raised_beyond_what_was_asked_for_nor_in_a_deterministic_run(
    wanted: dict[str, object],
) -> None:
    assert decide(slow_commits(**wanted)).candidate.pipeline.max_staleness == 0


def test_another_placement_must_gain_more_than_the_move_and_the_batches_that_do_not_overlap() -> None:
    gain = (found := decide(two_lanes())).seconds_before - found.batch_seconds
    cost = 2 * (70.0 + found.seconds_before)
    for batches_left, drains in ((int(cost / gain), False), (int(cost / gain) + 1, True)):
        assert decide(replace(two_lanes(), batches_left=batches_left)).drains is drains


@settings(max_examples=examples(5, 12), deadline=None)
@given(
    st.lists(st.tuples(st.floats(2.0, 20.0), st.floats(1.0, 8.0)), min_size=1, max_size=3),
    st.integers(1, 4),
    st.sampled_from([0, 1]),
)
def test_decisions_can_be_carried_out_and_never_raise_staleness(
    kinds: list[tuple[float, float]], num_trainer: int, max_staleness: int
) -> None:
    request = request_for(pool(kinds, [6 // len(kinds)] * len(kinds)), num_prompts=8)
    wanted = PipelineSpec(placement=Placement.AUTO, max_staleness=max_staleness)
    request = replace(request, fragment_sizes=(4,), wanted=wanted)
    pipeline = STALE.model_copy(update={"max_staleness": max_staleness})
    present = Candidate(pipeline=pipeline, trainers=tuple(range(num_trainer)), fragment_size=4)
    decision = decide(situation(request, present.trainers, present=present))
    after = decision.candidate
    assert after.pipeline.max_staleness <= max_staleness
    assert after.fragment_size == 4
    assert after.pipeline.tsp == pipeline.tsp
    if decision.is_change:
        resize = _resize(present, decision)
        names = {f"l{index}": _role(index, present) for index in range(len(request.costs.lanes))} | {
            "r0": LaneRole.REWARD
        }
        if resize.release or resize.change:
            assert not list(resize_problems(resize, names, after.pipeline.placement))
        assert decision.batch_seconds < decision.seconds_before


def _role(index: int, candidate: Candidate) -> LaneRole:
    return LaneRole.TRAINER if index in candidate.trainers else LaneRole.ROLLOUT


def _resize(present: Candidate, decision: Decision) -> Resize:
    change = [
        RoleChange(lane=f"l{index}", role=_role(index, decision.candidate))
        for index in range(6)
        if index not in decision.release and _role(index, decision.candidate) is not _role(index, present)
    ]
    return Resize(release=tuple(f"l{index}" for index in decision.release), change=tuple(change))


@given(st.lists(st.integers(0, 2), min_size=2, max_size=12), st.data())
def test_the_nearest_trainers_have_the_kinds_chosen_and_keep_who_trains(
    kind_of: list[int], data: st.DataObject
) -> None:
    indices = st.sets(st.integers(0, len(kind_of) - 1), min_size=1)
    chosen, present = data.draw(indices), data.draw(indices)
    found = nearest_trainers(kind_of, tuple(chosen), tuple(present))
    assert _counts(kind_of, found) == _counts(kind_of, chosen)
    for kind in set(kind_of):
        kept = {lane for lane in found if kind_of[lane] == kind}
        before = {lane for lane in present if kind_of[lane] == kind}
        assert kept <= before or before <= kept


def _counts(kind_of: list[int], lanes: Iterable[int]) -> Mapping[int, int]:
    found = [kind_of[lane] for lane in lanes]
    return {kind: found.count(kind) for kind in set(found)}
