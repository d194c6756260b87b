"""Nodes, their GPUs, the lanes made of them and their pools, who used which lane when, and who reports the nodes."""

from fleet.models.agents import NodeAgent
from fleet.models.allocation import Lane, LaneKind, LaneUse
from fleet.models.borrowed_lanes import LaneLoan
from fleet.models.entitlements import PoolPolicy, ProjectShare
from fleet.models.gpu_minutes import GpuMinute, GpuReadings
from fleet.models.gpu_tests import GpuTest, GpuTestState
from fleet.models.nodes import Gpu, HealthChange, Node
from fleet.models.pools import Pool
from fleet.models.project_budgets import BudgetPeriod, BudgetUnit, ProjectBudget, WhenSpent
from fleet.models.service_states import ServiceState, StateChange

__all__ = [
    "BudgetPeriod",
    "BudgetUnit",
    "Gpu",
    "GpuMinute",
    "GpuReadings",
    "GpuTest",
    "GpuTestState",
    "HealthChange",
    "Lane",
    "LaneKind",
    "LaneLoan",
    "LaneUse",
    "Node",
    "NodeAgent",
    "Pool",
    "PoolPolicy",
    "ProjectBudget",
    "ProjectShare",
    "ServiceState",
    "StateChange",
    "WhenSpent",
]
