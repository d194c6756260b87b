"""Pools of more splits than are all proposed, found by drawing thousands, in which the best one was missed."""

import pytest

from tests.scheduling.planning.synthetic_pools import every_split
from tests.scheduling.strategies import algebra_of
from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.costs import Cost
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.limits import ScheduleRules, batch_limits
from worker.scheduling.planning.proposals import proposed_splits


def lanes(
    number: int,
    generate: tuple[float, float],
    micro_batch: float,
    *,
    commit: float = 0.0,
    publish: float = 0.0,
    pull: float = 0.0,
    lend: float = 0.0,
    reclaim: float = 0.0,
) -> tuple[LaneCosts, ...]:
    """Lanes alike; `generate`: seconds of a call and of a trajectory."""
    costs = LaneCosts(
        generate=Cost(*generate),
        accumulate=Cost(0.0, micro_batch),
        commit=commit,
        publish=publish,
        pull=pull,
        lend=lend,
        reclaim=reclaim,
    )
    return (costs,) * number


@pytest.mark.parametrize(
    ("algebra", "pool", "rules", "equal_counts"),
    [
        pytest.param(
            algebra_of(num_minibatches=3, fragments=(1, 2), num_epochs=3, micro_batch_size=1),
            lanes(17, (0.0, 0.01), 0.25, publish=17.5, pull=17.5, lend=1.0, reclaim=0.25)
            + lanes(17, (0.25, 0.25), 0.25, commit=0.25, pull=0.01, lend=17.5)
            + lanes(17, (0.25, 17.5), 1.0, commit=1.0, publish=3.0, pull=17.5, lend=0.25, reclaim=17.5),
            ScheduleRules(overlaps=False, lends=False),
            True,
            id="in step, the gang that loses least only at the time that the batch takes",
        ),
        pytest.param(
            algebra_of(groups_per_minibatch=3, fragments=(3, 3), num_epochs=3, micro_batch_size=1),
            lanes(14, (3.0, 1.0), 0.01, commit=0.25, publish=0.01, pull=17.5, lend=0.01, reclaim=17.5)
            + lanes(14, (0.01, 17.5), 0.01, commit=0.01, publish=17.5, pull=3.0, reclaim=17.5),
            ScheduleRules(),
            True,
            id="in step and lent, fewer ranks of the other kind",
        ),
        pytest.param(
            algebra_of(num_minibatches=3, fragments=(3, 3), micro_batch_size=2, num_trajectories_per_call=8),
            lanes(35, (1.0, 3.0), 0.25, commit=0.25, publish=17.5, lend=3.0)
            + lanes(25, (1.0, 0.25), 0.01, commit=3.0, publish=0.01, lend=3.0),
            ScheduleRules(overlaps=False, runs_ahead=True),
            False,
            id="by speed, more ranks than end a mini-batch in time, since they are lent",
        ),
        pytest.param(
            algebra_of(num_minibatches=3, groups_per_minibatch=3, fragments=(2, 1), micro_batch_size=1),
            lanes(18, (17.5, 0.25), 17.5, commit=3.0, publish=0.25, pull=17.5)
            + lanes(18, (1.0, 0.25), 0.25, commit=0.01, pull=3.0)
            + lanes(9, (17.5, 0.01), 1.0, publish=0.25, lend=3.0),
            ScheduleRules(overlaps=False, lends=False, runs_ahead=True),
            False,
            id="by speed, three lanes of a kind instead of one of another",
        ),
    ],
)
def test_the_best_of_all_splits_is_proposed(
    algebra: BatchAlgebra, pool: tuple[LaneCosts, ...], rules: ScheduleRules, equal_counts: bool
) -> None:
    costs = PoolCosts(lanes=pool, score=Cost(0.0, 0.0), num_reward=1, equal_counts=equal_counts)
    kinds = LaneKinds.of(costs, algebra.fragment_size)
    best = batch_limits(algebra, costs, kinds, every_split(kinds), rules).min()
    _, found = proposed_splits(algebra, costs, kinds, rules, lends=False)
    assert found.min() == pytest.approx(best, rel=1e-4)
