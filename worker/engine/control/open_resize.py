"""The resize under way, and what is reported of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, Resize, ResizeReport, ResizeState, TrainerChangeSeconds
from worker.engine.control.lane_move import LaneMove, lane_moves
from worker.engine.control.trainer_change import TrainerChange


@dataclass(slots=True, kw_only=True)
class OpenResize:
    """A resize that has begun. It ends once every lane is settled, and has failed where one came to nothing."""

    id: str
    resize: Resize
    moves: dict[str, LaneMove]
    """By lane."""
    is_command: bool
    """Whether a command asked for it, which must be answered."""
    drains: bool = False
    """Whether the trainer gang is replaced while no batch is open."""
    change: TrainerChange | None = None
    """The replacement of the trainer gang, where it changes."""
    trainer_seconds: TrainerChangeSeconds | None = None
    deadlines: dict[str, float] = field(default_factory=dict)
    """By lane whose process is being placed: the driver's monotonic clock when that has taken too long."""

    @classmethod
    def of(
        cls, resize_id: str, resize: Resize, roles: Mapping[str, LaneRole], *, is_command: bool, drains: bool = False
    ) -> Self:
        """A resize of a run with the lanes `roles` (role by id), before anything has changed."""
        moves = {move.lane: move for move in lane_moves(resize, roles)}
        return cls(id=resize_id, resize=resize, moves=moves, is_command=is_command, drains=drains)

    def abandon(self, reason: str) -> None:
        """Nothing more comes of the moves that are not settled: lanes that were to be added count as given up, the
        others keep their role."""
        for move in self.moves.values():
            if not move.step.is_settled:
                move.settle(LaneStep.GIVEN_UP if move.before is None else LaneStep.KEPT, reason)

    def report(self) -> ResizeReport:
        """How far it is."""
        state, reason = ResizeState.ACCEPTED, ""
        if all(move.step.is_settled for move in self.moves.values()):
            reasons = [f"{move.lane}: {move.detail}" for move in self.moves.values() if move.detail]
            state, reason = (ResizeState.FAILED, reasons[0]) if reasons else (ResizeState.DONE, "")
        return ResizeReport(
            id=self.id,
            cause=self.resize.cause,
            state=state,
            reason=reason,
            lanes=tuple(move.progress for move in self.moves.values()),
            trainer_seconds=self.trainer_seconds,
        )
