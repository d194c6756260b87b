"""The pipeline's bench compares what it says it compares."""

import pytest

from tests.bench import large_pools
from tests.bench.pipeline_inputs import TESTBEDS, WORK, costs_as_written
from tests.bench.pipeline_tables import headline, with_blocks
from tests.bench.true_costs import NUM_DRAWS, TRUTHS
from worker.scheduling.planning.bounds import scoring_seconds, work_seconds
from worker.scheduling.profiles.image_models import FLUX

EFFICIENCIES = ("generation_efficiency", "training_efficiency")
BY_NAME = {testbed.name: testbed for testbed in TESTBEDS}


def test_every_uncertain_input_stays_in_its_range() -> None:
    for truth in TRUTHS:
        lanes = truth.costs(WORK[FLUX.name], BY_NAME["A+C"]).lanes
        assert len(set(lanes)) == 2
        for card in {*BY_NAME["A"].devices, *BY_NAME["C"].devices}:
            true_card = truth.card(card)
            for name in (*EFFICIENCIES, "switch_seconds"):
                estimate, value = getattr(card, name), getattr(true_card, name).value
                assert estimate.low <= value <= estimate.high


def test_cards_are_off_together_in_correlated_truths_and_apart_in_independent_ones() -> None:
    for kind, number_of_quantiles in (("correlated", 1), ("independent", 2 * len(cards()))):
        drawn = [truth for truth in TRUTHS if truth.kind == kind]
        assert len(drawn) == NUM_DRAWS
        for truth in drawn:
            efficiencies = {truth.quantiles[card, name] for card in cards() for name in EFFICIENCIES}
            assert len(efficiencies) == number_of_quantiles


def cards() -> set[str]:
    return {card.name for testbed in TESTBEDS for card in testbed.devices}


def test_in_the_opposed_truths_generation_gains_what_training_loses() -> None:
    work, testbed = WORK[FLUX.name], BY_NAME["B"]
    written = costs_as_written(work, testbed).lanes[0]
    opposed = [truth.costs(work, testbed).lanes[0] for truth in TRUTHS if truth.kind == "opposed"]
    signs = [
        (lane.generate.per_unit < written.generate.per_unit, lane.accumulate.per_unit < written.accumulate.per_unit)
        for lane in opposed
    ]
    assert signs == [(True, False), (False, True)]


@pytest.mark.parametrize(
    "pool",
    [pytest.param(pool, marks=pytest.mark.slow) for pool in large_pools.POOLS],
)
def test_no_mode_of_a_large_pool_waits_for_the_scorer(pool: str) -> None:
    plan = large_pools.plan_of(large_pools.POOLS[pool])
    algebra, costs = plan.request.work.algebra, plan.request.costs
    assert scoring_seconds(algebra, costs) < 0.5 * work_seconds(algebra, costs)
    planned = {mode: choice.split_result.batch_seconds for mode, choice in plan.by_mode.items()}
    assert len({round(seconds, 3) for seconds in planned.values()}) == len(planned), planned


def test_a_document_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="<!-- headline -->"):
        with_blocks("no markers", (headline,), {"cases": []})
