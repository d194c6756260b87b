"""The `algorithm` section of a `RunSpec`: the settings of each algorithm, and what it needs of engine and pipeline.

A section is one of them, told apart by `name`; without a name it is Flow-GRPO's. They lie in a module for each kind of
training data; formulas and sources stand beside the code, in `worker.engine.algorithms`.
"""

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field

from worker.contracts.algorithms.base import AlgorithmNeeds
from worker.contracts.algorithms.forward_process_specs import DiffusionDpoSpec, DiffusionNftSpec
from worker.contracts.algorithms.policy_gradient_specs import (
    ClippedSpec,
    DanceGrpoSpec,
    FlowDppoSpec,
    FlowGrpoFastSpec,
    FlowGrpoSpec,
    GrpoGuardSpec,
    MixGrpoSpec,
)
from worker.contracts.algorithms.reward_feedback_specs import DIFFERENTIABLE_REWARDS, ReflSpec, RewardFlowSpec

__all__ = [
    "ALGORITHM_SPECS",
    "DIFFERENTIABLE_REWARDS",
    "AlgorithmNeeds",
    "AlgorithmSpec",
    "ClippedSpec",
    "DanceGrpoSpec",
    "DiffusionDpoSpec",
    "DiffusionNftSpec",
    "FlowDppoSpec",
    "FlowGrpoFastSpec",
    "FlowGrpoSpec",
    "GrpoGuardSpec",
    "MixGrpoSpec",
    "ReflSpec",
    "RewardFlowSpec",
]


def _with_default_name(document: Any) -> Any:
    """Settings without a name are those of Flow-GRPO, the default where a spec leaves the whole section out."""
    return {"name": "flow_grpo", **document} if isinstance(document, dict) else document


_AnyAlgorithm = (
    FlowGrpoSpec
    | FlowGrpoFastSpec
    | MixGrpoSpec
    | DanceGrpoSpec
    | GrpoGuardSpec
    | FlowDppoSpec
    | DiffusionNftSpec
    | DiffusionDpoSpec
    | ReflSpec
    | RewardFlowSpec
)

AlgorithmSpec = Annotated[_AnyAlgorithm, Field(discriminator="name"), BeforeValidator(_with_default_name)]

ALGORITHM_SPECS: dict[str, type[_AnyAlgorithm]] = {
    kind.model_fields["name"].default: kind for kind in get_args(_AnyAlgorithm)
}
"""The settings of each algorithm, by name."""
