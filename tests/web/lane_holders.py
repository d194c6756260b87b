"""Holders of lanes for tests in which nobody asks on whose account they are."""

from uuid import UUID

from fleet.services import LaneHolder


def held_by(run_id: UUID, attempt: int) -> LaneHolder:
    """An attempt of a run that belongs to no project."""
    return LaneHolder(run_id=run_id, attempt=attempt, project_id=None, user_id=None)


def held_for_preview(preview_id: UUID, run_id: UUID) -> LaneHolder:
    """A preview of a run that belongs to no project."""
    return LaneHolder(run_id=run_id, preview_id=preview_id, project_id=None, user_id=None)
