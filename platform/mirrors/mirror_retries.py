"""When a mirror is written to again: after what was accepted, and after what was not."""

FOLLOW_SECONDS = 60
"""Between two sessions of a run that works. A session loads its tool anew, some seconds of one core, so that no idle
memory is held; a batch of any real model takes as long."""
RETRY_AFTER_SECONDS = (15, 60, 300, 900, 3600, 7200, 14_400, 21_600, 28_800)
"""From a failed try to the next: short first, for a server that restarts; then rarely, 21 h 20 min in all, for one that
somebody mends the next morning. The try after the last is given up."""


def seconds_until_retry(num_failures: int) -> int | None:
    """From the failure that is the `num_failures`-th in a row to the next try; `None`: it is given up."""
    return RETRY_AFTER_SECONDS[num_failures - 1] if num_failures <= len(RETRY_AFTER_SECONDS) else None
