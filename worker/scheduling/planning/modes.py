"""The modes that a plan compares, each the one before it with one switch more.

    colocated                    each lane generates, then trains
    disaggregated ─► gap ─► tsp ─► tag ─► stale      rollout and trainer lanes at the same time

Invariant: a mode's rules for the limits follow from its settings, so no setting of a mode beats the limit of those that
lend as it does.
"""

from dataclasses import dataclass, replace
from typing import Literal

from worker.contracts.names import Placement, Publishing, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.limits import ScheduleRules


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningMode:
    """A combination of switches that a plan tries."""

    name: str
    placement: Placement = Placement.DISAGGREGATED
    gap: bool = True
    tsp: bool = True
    tags: tuple[TrainerAssist, ...] = (TrainerAssist.OFF,)
    """Ways to lend trainer lanes, of which the fastest is taken. Lending by search takes long to simulate, so it is
    tried only on the split that is best for the others."""
    max_staleness: int = 0

    @property
    def is_colocated(self) -> bool:
        return self.placement is Placement.COLOCATED

    def settings(self, wanted: PipelineSpec) -> list[PipelineSpec]:
        """This mode's switches in a user's `pipeline` section, one for each way to lend."""
        return [self._setting(wanted, tag) for tag in self.tags]

    @property
    def may_lend(self) -> tuple[bool, ...]:
        """Whether trainer lanes generate, once for each answer that some setting of this mode gives."""
        if self.is_colocated:
            return (True,)
        return tuple(sorted({tag is not TrainerAssist.OFF for tag in self.tags}))

    def rules(
        self, advantage_std: Literal["group", "batch"], *, lends: bool, equal_counts: bool = False
    ) -> ScheduleRules:
        """What a schedule may do in those settings of this mode that lend trainer lanes, or in the others."""
        setting = self._setting(PipelineSpec(), self.tags[0])
        rules = ScheduleRules.of(setting, advantage_std, equal_counts=equal_counts)
        return replace(rules, lends=lends)

    def _setting(self, wanted: PipelineSpec, tag: TrainerAssist) -> PipelineSpec:
        settings = {
            "placement": self.placement,
            "gap": self.gap,
            "tsp": self.tsp,
            "max_staleness": self.max_staleness,
            "stale_clip": wanted.stale_clip,
            "importance_cap": wanted.importance_cap if self.max_staleness else None,
            "publishing": Publishing.STORE if self.is_colocated else wanted.publishing,
            "deterministic": wanted.deterministic,
            "tag": tag,
        }
        return PipelineSpec.model_validate(settings)


MODES = (
    PlanningMode(name="colocated", placement=Placement.COLOCATED),
    PlanningMode(name="disaggregated", gap=False, tsp=False),
    PlanningMode(name="gap", tsp=False),
    PlanningMode(name="tsp"),
    PlanningMode(name="tag", tags=(TrainerAssist.GREEDY, TrainerAssist.SEARCH)),
    PlanningMode(name="stale", tags=tuple(TrainerAssist), max_staleness=1),
)
"""All modes, in the order of the docstring above."""


def name_of(pipeline: PipelineSpec) -> str:
    """The name of the mode among `MODES` that resolved switches belong to."""
    if pipeline.placement is Placement.COLOCATED:
        return "colocated"
    if pipeline.max_staleness:
        return "stale"
    if pipeline.tag is not TrainerAssist.OFF:
        return "tag"
    if not pipeline.gap:
        return "disaggregated"
    return "tsp" if pipeline.tsp else "gap"


def allowed_modes(wanted: PipelineSpec) -> tuple[PlanningMode, ...]:
    """The modes that a user who chose `auto` has agreed to: those with no more staleness than asked for."""
    return tuple(mode for mode in MODES if mode.max_staleness <= wanted.max_staleness)
