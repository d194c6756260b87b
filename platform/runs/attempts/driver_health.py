"""Whether the driver of an open attempt is healthy, from observations of it. Pure: no clock, no database, no Ray."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from runs.cluster import JobStatus

HEARTBEAT_LATE = timedelta(seconds=4)
"""Two missed heartbeats: early enough to see in every round whether the web is away, which is not the driver's
silence."""
HEARTBEAT_STALE = timedelta(seconds=12)
"""Six missed heartbeats. With a round of the reconciler every 5 s, a killed driver is noticed within 15 s."""
LAUNCH_AGAIN_AFTER = timedelta(seconds=10)
LAUNCH_TIMEOUT = timedelta(seconds=90)
SUBMIT_TIMEOUT = timedelta(seconds=30)
"""How long a claimed attempt may be unknown to Ray while its launch task uploads the code."""


class DriverHealth(StrEnum):
    WELL = "well"
    LAUNCH_AGAIN = "launch_again"
    LOST = "lost"
    LATE = "late"
    """No heartbeat for a while: well, and whether the web was available has to be known."""
    SILENT = "silent"
    """No heartbeat, although Ray reports that it runs or does not answer: lost, unless the web was unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is known of an attempt at one moment. `job` is None if Ray did not answer."""

    now: datetime
    created_at: datetime
    submitted_at: datetime | None
    bootstrap_expires_at: datetime | None
    bootstrap_used_at: datetime | None
    last_heartbeat_at: datetime | None
    silent_from: datetime | None
    watching_since: datetime
    """When the reconcilers of this process began to watch; silence before that does not count."""
    job: JobStatus | None
    detail: str = ""


def judge(seen: Observation) -> tuple[DriverHealth, str]:
    """The driver's health, and the reason in one sentence."""
    if seen.submitted_at is None:
        return _judge_unsubmitted(seen)
    if seen.job is JobStatus.UNKNOWN and seen.now - seen.submitted_at <= SUBMIT_TIMEOUT:
        return DriverHealth.WELL, ""
    if seen.job is JobStatus.UNKNOWN:
        return DriverHealth.LOST, "the driver was lost: its job is unknown to the cluster"
    if seen.job is JobStatus.SUCCEEDED:
        return DriverHealth.LOST, "the driver was lost: its job ended without reporting the run's end"
    if seen.job is not None and seen.job.is_over:
        return DriverHealth.LOST, f"the driver was lost: its job {seen.job}"
    if seen.bootstrap_used_at is None:
        return _judge_before_bootstrap(seen)
    spoke_at = max(
        at for at in (seen.last_heartbeat_at, seen.silent_from, seen.watching_since, seen.bootstrap_used_at) if at
    )
    # What is yet to come was noted before the clock was set back.
    silence = seen.now - min(spoke_at, seen.now)
    if silence > HEARTBEAT_STALE:
        return DriverHealth.SILENT, f"the driver was lost: no heartbeat for {silence.total_seconds():.0f} s"
    return (DriverHealth.LATE if silence > HEARTBEAT_LATE else DriverHealth.WELL), ""


def _judge_unsubmitted(seen: Observation) -> tuple[DriverHealth, str]:
    age = seen.now - seen.created_at
    if age > LAUNCH_TIMEOUT:
        why = seen.detail or "no launch task took it up"
        return DriverHealth.LOST, f"the job could not be submitted for {age.total_seconds():.0f} s: {why}"
    return (DriverHealth.LAUNCH_AGAIN if age > LAUNCH_AGAIN_AFTER else DriverHealth.WELL), ""


def _judge_before_bootstrap(seen: Observation) -> tuple[DriverHealth, str]:
    if seen.bootstrap_expires_at is not None and seen.now > seen.bootstrap_expires_at:
        return DriverHealth.LOST, "the driver was lost: it never traded its bootstrap code, so it may not reach the web"
    return DriverHealth.WELL, ""
