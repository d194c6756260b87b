"""Puts into the run's log which collectives its ranks were in when one of them hung, before that one is ended.

A rank that has stopped does not answer, those that wait for it do: what they have open, and it has not, is where it was
missed.
"""

import logging
from typing import Protocol

from worker.engine.actors.reports import OpenCollective

logger = logging.getLogger(__name__)

MAX_SHOWN = 8
"""Collectives of one rank that are shown. Of hundreds that are queued on a device the oldest tell why it stands."""


class AskedLanes(Protocol):
    """What is needed of `ClusterLanes`."""

    def open_collectives(self, lane: str) -> dict[str, tuple[OpenCollective, ...] | None]: ...


def log_open_collectives(lanes: AskedLanes, lane: str) -> None:
    """Ask the ranks that a hung `lane` has to do with, and log what they answer; nothing where none is in a group."""
    answers = lanes.open_collectives(lane)
    if not any(answers.values()):
        return
    for name, found in answers.items():
        if found is None:
            logger.error("lane %s does not tell what collectives it is in", name)
        elif not found:
            logger.error("lane %s is in no collective", name)
        else:
            shown = "; ".join(each.sentence for each in found[:MAX_SHOWN])
            more = f"; and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
            logger.error("lane %s (rank %d) has not completed %s%s", name, found[0].rank, shown, more)
