"""When a message that did not arrive is sent again, and when its webhook is switched off."""

from datetime import timedelta

RETRY_AFTER_SECONDS = (5, 300, 1800, 7200, 18_000, 28_800, 28_800)
"""Seconds from a try to the next, most of the schedule that standardwebhooks.com recommends: short first, for a
receiver that restarts; then rarely, 23 h 35 min in all, for one that somebody mends the next morning."""
MAX_TRIES = len(RETRY_AFTER_SECONDS) + 1
LASTING_FAILURE = timedelta(hours=20)
"""A webhook whose message was given up is switched off when nothing got through for so long: a little less than all
tries of a message take."""


def seconds_until_next(tries_left: int) -> int:
    """From a try that failed to the next, of which `tries_left` (at least 1) are left."""
    return RETRY_AFTER_SECONDS[-tries_left]
