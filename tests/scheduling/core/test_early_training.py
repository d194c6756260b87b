"""Colocated lanes that are better at training than others begin while these generate."""

from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.pools import pool_of, simulate
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, Placement
from worker.contracts.spans import Span, SpanKind
from worker.scheduling.core import early_training
from worker.scheduling.core.costs import GANG, Cost, CostKind

BATCH = algebra_of(groups_per_minibatch=20, fragments=(2, 2))
"""Forty fragments, two a group."""
Lanes = Mapping[str, tuple[float, float]]
"""By lane: seconds of a fragment and of a micro-batch."""
OPPOSITE: Lanes = {"generator": (1.0, 4.0), "trainer": (4.0, 1.0)}
MOSTLY_DRAWN_AGAIN: dict[str, Any] = {
    "algebra": BATCH.model_copy(update={"max_resamples": 3}),
    "share_without_spread": 0.9,
}
"""Units of training are few beside what is generated for them."""


def batch_of(lanes: Lanes, switch_seconds: float = 0.0, **changes: Any) -> tuple[float, list[Span]]:
    """Seconds of the second batch of a colocated run, when all costs are measured, and what its lanes did in it."""
    costs = {("s", CostKind.SCORE): Cost(0.0, 0.001), (GANG, CostKind.ACCUMULATE): Cost(0.0, 4.0)}
    for lane, (fragment, micro_batch) in lanes.items():
        costs[lane, CostKind.GENERATE] = Cost(0.0, fragment / 2)
        costs[lane, CostKind.ACCUMULATE] = Cost(0.0, micro_batch)
        costs[lane, CostKind.LEND] = costs[lane, CostKind.RECLAIM] = Cost(switch_seconds)
    run = Settings(**{"algebra": BATCH, "placement": Placement.COLOCATED, **changes})
    pool = pool_of(costs, *((lane, LaneRole.TRAINER) for lane in lanes), ("s", LaneRole.REWARD))
    second = [span for span in simulate(run, pool)[1] if span.batch == 1]
    return max(span.end for span in second) - min(span.start for span in second), second


def of(lane: str, kind: SpanKind, spans: Sequence[Span]) -> list[Span]:
    return [span for span in spans if span.lane == lane and span.kind is kind]


def test_a_lane_that_trains_better_begins_while_another_generates() -> None:
    seconds, spans = batch_of(OPPOSITE)
    last_generated = of("generator", SpanKind.GENERATE, spans)[-1]
    first_trained = of("trainer", SpanKind.TRAIN, spans)[0]
    assert first_trained.start < last_generated.start - 10
    assert of("generator", SpanKind.TRAIN, spans)[0].start >= last_generated.end
    with mock.patch.object(early_training, "LEAST_GAIN", 1.0):
        assert seconds < 0.8 * batch_of(OPPOSITE)[0], "what it takes without"


def test_a_lane_without_a_unit_generates_again_once_it_has_waited_as_long_as_its_switches_take() -> None:
    for switch in (0.0, 0.25):
        _, spans = batch_of(OPPOSITE, switch_seconds=switch, **MOSTLY_DRAWN_AGAIN)
        trained = of("trainer", SpanKind.TRAIN, spans)
        again = next(span for span in of("trainer", SpanKind.GENERATE, spans) if span.start > trained[0].start)
        before = max(span.end for span in trained if span.end <= again.start)
        assert again.start - before >= 3 * switch, "the wait, and the switch there"
        assert again.start - before <= 3 * switch + OPPOSITE["generator"][0]


@pytest.mark.parametrize("measured", [1.0, 1.05])
def test_lanes_alike_all_generate_to_the_end(measured: float) -> None:
    lanes = {"one": (2.0, 2.0), "other": (2.0 * measured, 2.0), "third": (2.0, 2.0 * measured)}
    _, spans = batch_of(lanes)
    last_begun = max(span.start for lane in lanes for span in of(lane, SpanKind.GENERATE, spans))
    assert min(of(lane, SpanKind.TRAIN, spans)[0].start for lane in lanes) >= last_begun


@pytest.mark.parametrize("changes", [{"gap": False}, {"equal_counts": True}, {"lends_together": True}])
def test_runs_whose_ranks_begin_together_train_nothing_early(changes: dict[str, bool]) -> None:
    _, spans = batch_of(OPPOSITE, **changes)
    last_begun = max(span.start for lane in OPPOSITE for span in of(lane, SpanKind.GENERATE, spans))
    assert min(span.start for lane in OPPOSITE for span in of(lane, SpanKind.TRAIN, spans)) >= last_begun


@settings(max_examples=40, deadline=None)
@given(
    lanes=st.lists(
        st.tuples(st.sampled_from([1.0, 1.3, 2.0, 5.0]), st.sampled_from([0.5, 1.0, 2.0, 5.0])), min_size=2, max_size=5
    ),
    share_without_spread=st.sampled_from([0.0, 0.3]),
    max_resamples=st.integers(0, 2),
)
def test_early_training_makes_no_batch_longer_by_more_than_a_call_or_two_where_groups_are_drawn_again(
    lanes: list[tuple[float, float]], share_without_spread: float, max_resamples: int
) -> None:
    named = {f"lane-{index}": seconds for index, seconds in enumerate(lanes)}
    algebra = BATCH.model_copy(update={"max_resamples": max_resamples, "filter_groups": True})
    changes: dict[str, Any] = {"algebra": algebra, "share_without_spread": share_without_spread}
    with mock.patch.object(early_training, "LEAST_GAIN", 1.0):
        without, _ = batch_of(named, **changes)
    most_calls = 2 if share_without_spread else 1
    assert batch_of(named, **changes)[0] <= without + most_calls * max(map(max, lanes)) + 1e-6
