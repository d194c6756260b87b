"""Runs that are both emulated and simulated: lanes, modes and costs. Waits are far longer than messages take."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.engine.driving import grants
from tests.engine.prediction import Costs
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import GANG, Cost, CostKind

MODES: dict[str, dict[str, Any]] = {
    "colocated": {"placement": "colocated", "gap": False, "tsp": True},
    "disaggregated": {"gap": False, "tsp": True},
    "gap": {"gap": True, "tsp": True},
    "gap + tag greedy": {"gap": True, "tsp": True, "tag": "greedy"},
    "gap + tag search": {"gap": True, "tsp": True, "tag": "search"},
    "gap + staleness 1": {"gap": True, "tsp": True, "max_staleness": 1},
    "gap + staleness 1 + tag search": {"gap": True, "tsp": True, "max_staleness": 1, "tag": "search"},
}
"""The `pipeline` section of each mode."""

SPLITS: dict[int, tuple[int, int, int]] = {8: (5, 2, 1), 16: (10, 4, 2), 32: (20, 8, 4)}
"""Numbers of (rollout, trainer, reward) lanes by the number of all lanes."""

SECONDS_PER_TRAJECTORY = 0.1
"""So a fragment of 4 takes 0.4 s, far longer than the milliseconds of a message."""
SLOW_FACTOR = 1.8
"""How much longer every other lane takes in mixed pools, to generate and to train."""
SECONDS_PER_MICRO_BATCH = 0.03
"""So training a batch takes three quarters of the time of generating it, and lanes of both roles wait at times."""
SECONDS_PER_SCORE = 0.01
"""Short, so that scoring never holds up the others."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run."""

    num_lanes: int
    """The number of lanes of all roles; a key of `SPLITS`."""
    mode: str
    """A key of `MODES`."""
    is_mixed: bool
    """Whether every other lane is slower."""
    num_batches: int = 6

    def __str__(self) -> str:
        return f"{self.num_lanes} lanes, {'mixed' if self.is_mixed else 'alike'}, {self.mode}"

    @property
    def spec(self) -> RunSpec:
        """The spec of the run. A batch has three fragments per rollout lane, so that batch times are about equal in all
        pools."""
        num_rollout, num_trainer, num_reward = SPLITS[self.num_lanes]
        num_prompts = 3 * num_rollout // 2
        return RunSpec.model_validate(
            {
                "prompts": {"inline": [f"prompt {number}" for number in range(num_prompts)]},
                "rewards": [{"name": "colorfulness"}],
                "sampling": {"num_denoising_steps": 9},
                "batch": {
                    "num_prompts_per_batch": num_prompts,
                    "group_size": 8,
                    "fragment_size": 4,
                    "micro_batch_size": 8,
                },
                "pipeline": MODES[self.mode],
                "lanes": {"num_rollout": num_rollout, "num_trainer": num_trainer, "num_reward": num_reward},
                # Evaluations at start and end cannot be switched off, so they have one image.
                "evaluation": {"prompts": ["held out"], "num_samples_per_prompt": 1, "every_num_batches": None},
                "checkpoint": {"every_num_batches": None},
                "num_batches": self.num_batches,
            }
        )

    @property
    def costs(self) -> Costs:
        """The seconds that the lanes wait, by lane and kind."""
        return dict(self._costs())

    def _costs(self) -> Iterator[tuple[tuple[str, CostKind], Cost]]:
        for number, grant in enumerate(grants(self.spec)):
            lane, role = grant.lane, grant.role
            if role is LaneRole.REWARD:
                yield (lane, CostKind.SCORE), Cost(0.005, SECONDS_PER_SCORE)
                continue
            factor = SLOW_FACTOR if self.is_mixed and number % 2 else 1.0
            yield (lane, CostKind.GENERATE), Cost(0.0, SECONDS_PER_TRAJECTORY * factor)
            yield (lane, CostKind.PULL), Cost(0.05)
            if role is LaneRole.TRAINER:
                yield (lane, CostKind.LEND), Cost(0.06)
                yield (lane, CostKind.RECLAIM), Cost(0.06)
                yield (lane, CostKind.ACCUMULATE), Cost(0.01, SECONDS_PER_MICRO_BATCH * factor)
        yield (GANG, CostKind.COMMIT), Cost(0.05)
        yield (GANG, CostKind.PUBLISH), Cost(0.05)
