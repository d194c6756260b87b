"""The lanes of one resize: where each comes from, where it goes, and how far it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneProgress, LaneStep, Resize


@dataclass(slots=True, kw_only=True)
class LaneMove:
    """One lane that a resize adds, releases or gives another role."""

    lane: str
    before: LaneRole | None
    """Its role so far; `None` for a lane that is added."""
    after: LaneRole | None
    """Its role once the resize is done; `None` for a lane that is released."""
    grant: LaneGrant | None = None
    """The pool's grant of a lane that is added."""
    step: LaneStep = LaneStep.WAITING
    detail: str = ""

    @property
    def is_of_gang(self) -> bool:
        """Whether the lane trains, or is to train."""
        return LaneRole.TRAINER in (self.before, self.after)

    @property
    def progress(self) -> LaneProgress:
        return LaneProgress(lane=self.lane, role=self.after, step=self.step, detail=self.detail)

    def settle(self, step: LaneStep, detail: str = "") -> None:
        """The move ends with `step`."""
        self.step, self.detail = step, detail


def lane_moves(resize: Resize, roles: Mapping[str, LaneRole]) -> list[LaneMove]:
    """The moves of a resize of a run with the lanes `roles` (role by id), releases first."""
    return [
        *(LaneMove(lane=lane, before=roles.get(lane), after=None) for lane in resize.release),
        *(LaneMove(lane=change.lane, before=roles.get(change.lane), after=change.role) for change in resize.change),
        *(LaneMove(lane=grant.lane, before=None, after=grant.role, grant=grant) for grant in resize.add),
    ]


def abandon(moves: Iterable[LaneMove], reason: str) -> None:
    """Settle the moves that are not: nothing more comes of them. Lanes that were to be added count as given up, the
    others keep their role."""
    for move in moves:
        if not move.step.is_settled:
            move.settle(LaneStep.GIVEN_UP if move.before is None else LaneStep.KEPT, reason)
