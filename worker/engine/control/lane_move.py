"""One lane that a resize adds, releases or gives another role: where it comes from, where it goes, how far it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneProgress, LaneStep, Resize


@dataclass(slots=True, kw_only=True)
class LaneMove:
    """The move of one lane."""

    lane: str
    before: LaneRole | None
    """Its role so far; `None` for a lane that is added."""
    after: LaneRole | None
    """Its role once the resize is done; `None` for a lane that is released."""
    grant: LaneGrant | None = None
    """The pool's grant of a lane that is added."""
    step: LaneStep = LaneStep.WAITING
    detail: str = ""
    """Why the move came to nothing; empty otherwise."""
    num_dropped: int = 0
    """Fragments that the lane had under way and that were dropped."""

    @property
    def is_of_gang(self) -> bool:
        """Whether the lane trains, or is to train."""
        return LaneRole.TRAINER in (self.before, self.after)

    @property
    def is_settled(self) -> bool:
        return self.step.is_settled

    @property
    def progress(self) -> LaneProgress:
        return LaneProgress(
            lane=self.lane, role=self.after, step=self.step, detail=self.detail, num_dropped=self.num_dropped
        )

    def settle(self, step: LaneStep, detail: str = "") -> None:
        """The move ends with `step`."""
        self.step, self.detail = step, detail


def lane_moves(resize: Resize, roles: Mapping[str, LaneRole]) -> Iterator[LaneMove]:
    """The moves of a resize of a run with the lanes `roles` (role by id), releases first."""
    for lane in resize.release:
        yield LaneMove(lane=lane, before=roles.get(lane), after=None)
    for change in resize.change:
        yield LaneMove(lane=change.lane, before=roles.get(change.lane), after=change.role)
    for grant in resize.add:
        yield LaneMove(lane=grant.lane, before=None, after=grant.role, grant=grant)
