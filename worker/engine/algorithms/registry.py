"""Algorithms by the name a spec gives them."""

from collections.abc import Callable

from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import FlowGrpoSpec
from worker.engine.algorithms.base import Algorithm
from worker.engine.algorithms.flow_grpo import FlowGrpo

ALGORITHMS: dict[str, Callable[[FlowGrpoSpec, float | None], Algorithm]] = {"flow_grpo": FlowGrpo}


def build_algorithm(spec: RunSpec) -> Algorithm:
    return ALGORITHMS[spec.algorithm.name](spec.algorithm, spec.pipeline.importance_cap)
