"""The modes that a plan compares, each the one before it with one switch more.

    colocated                    every lane generates, then every lane trains
    disaggregated ─► gap ─► tsp ─► tag ─► stale      rollout and trainer lanes at the same time

Invariant: a mode's limit (`limits.ScheduleRules`) allows everything that its settings allow, so it narrows without
losing.
"""

from dataclasses import dataclass

from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.limits import ScheduleRules


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningMode:
    name: str
    limit: ScheduleRules
    placement: Placement = Placement.DISAGGREGATED
    gap: bool = True
    tsp: bool = True
    tags: tuple[TrainerAssist, ...] = (TrainerAssist.OFF,)
    """Ways to lend, of which the best is taken. The search costs much to rehearse, so it is tried with the best split
    of the others alone."""
    max_staleness: int = 0

    @property
    def is_colocated(self) -> bool:
        return self.placement is Placement.COLOCATED

    @property
    def always_lends(self) -> bool:
        """Whether its trainer lanes generate whatever its settings."""
        return self.is_colocated or TrainerAssist.OFF not in self.tags

    def settings(self, wanted: PipelineSpec) -> list[PipelineSpec]:
        """This mode's switches in a user's section, one for each way to lend."""
        settings = {
            "placement": self.placement,
            "gap": self.gap,
            "tsp": self.tsp,
            "max_staleness": self.max_staleness,
            "importance_cap": wanted.importance_cap if self.max_staleness else None,
            "deterministic": wanted.deterministic,
        }
        return [PipelineSpec.model_validate(settings | {"tag": tag}) for tag in self.tags]


MODES = (
    PlanningMode(name="colocated", limit=ScheduleRules(overlaps=False, lends=True), placement=Placement.COLOCATED),
    PlanningMode(
        name="disaggregated", limit=ScheduleRules(overlaps=False, lends=False, tsp=False), gap=False, tsp=False
    ),
    PlanningMode(name="gap", limit=ScheduleRules(lends=False, tsp=False), tsp=False),
    PlanningMode(name="tsp", limit=ScheduleRules(lends=False)),
    PlanningMode(name="tag", limit=ScheduleRules(), tags=(TrainerAssist.GREEDY, TrainerAssist.SEARCH)),
    PlanningMode(name="stale", limit=ScheduleRules(runs_ahead=True), tags=tuple(TrainerAssist), max_staleness=1),
)


def allowed_modes(wanted: PipelineSpec) -> tuple[PlanningMode, ...]:
    """Those that a user who chose `auto` has agreed to: never staler than asked."""
    return tuple(mode for mode in MODES if mode.max_staleness <= wanted.max_staleness)
