"""The runs at work on nodes, which take of what a new run needs there."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from fleet.node_rooms import LanesAtWork, lanes_at_work
from runs.models import Run
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True)
class RunAtWork:
    spec: RunSpec
    """The run's, with the number of lanes that it holds: plans, resizes and loans change what was asked for."""
    prompts: tuple[Prompt, ...]
    num_lanes: Counter[str]
    """Its rollout and trainer lanes by the name of their node; 0 for a node without any."""


def runs_at_work(nodes: Collection[str]) -> list[RunAtWork]:
    """The runs with rollout or trainer lanes on any of `nodes`, each with its lanes on all nodes."""
    held = lanes_at_work(nodes)
    return [_at_work(run, held[run.pk]) for run in Run.objects.filter(pk__in=held).order_by("pk")]


def _at_work(run: Run, held: LanesAtWork) -> RunAtWork:
    numbers = {"num_rollout": held.by_role[LaneRole.ROLLOUT], "num_trainer": held.by_role[LaneRole.TRAINER]}
    spec = run.run_spec
    spec = spec.model_copy(update={"lanes": spec.lanes.model_copy(update=numbers)})
    return RunAtWork(spec, tuple(parse_prompts(run.prompts)), held.by_node)
