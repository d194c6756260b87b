"""Random pools for planner and bounds: lanes of up to three kinds, with random costs."""

from hypothesis import strategies as st

from worker.scheduling.core.costs import Cost
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts

SECONDS = st.sampled_from([0.0, 0.01, 0.25, 1.0, 3.0, 17.5])
SOME_SECONDS = st.sampled_from([0.01, 0.25, 1.0, 3.0, 17.5])

LANES = st.builds(
    LaneCosts,
    generate=st.builds(Cost, SECONDS, SOME_SECONDS),
    accumulate=st.builds(Cost, SECONDS, SOME_SECONDS),
    commit=SECONDS,
    publish=SECONDS,
    pull=SECONDS,
    lend=SECONDS,
    reclaim=SECONDS,
)


@st.composite
def pools(draw: st.DrawFn, max_lanes: int = 5) -> PoolCosts:
    kinds = draw(st.lists(LANES, min_size=1, max_size=3))
    number = draw(st.integers(2, max_lanes))
    return PoolCosts(
        lanes=tuple(draw(st.sampled_from(kinds)) for _ in range(number)),
        score=Cost(0.0, draw(SECONDS)),
        num_reward=draw(st.integers(1, 3)),
        equal_counts=draw(st.booleans()),
    )
