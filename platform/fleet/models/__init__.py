"""Nodes, their GPUs, the lanes made of them, who used which lane when, and the agents that report them."""

from fleet.models.agents import NodeAgent
from fleet.models.allocation import Lane, LaneKind, LaneUse
from fleet.models.entitlements import PoolPolicy, ProjectShare
from fleet.models.gpu_tests import GpuTest, GpuTestState
from fleet.models.loans import LaneLoan
from fleet.models.nodes import Gpu, HealthChange, Node
from fleet.models.service_states import ServiceState, StateChange

__all__ = [
    "Gpu",
    "GpuTest",
    "GpuTestState",
    "HealthChange",
    "Lane",
    "LaneKind",
    "LaneLoan",
    "LaneUse",
    "Node",
    "NodeAgent",
    "PoolPolicy",
    "ProjectShare",
    "ServiceState",
    "StateChange",
]
