"""Algorithms by the name a spec gives them."""

from collections.abc import Callable

from worker.contracts.sections import FlowGrpoSpec
from worker.engine.algorithms.base import Algorithm
from worker.engine.algorithms.flow_grpo import FlowGrpo

ALGORITHMS: dict[str, Callable[[FlowGrpoSpec], Algorithm]] = {"flow_grpo": FlowGrpo}


def build_algorithm(spec: FlowGrpoSpec) -> Algorithm:
    return ALGORITHMS[spec.name](spec)
