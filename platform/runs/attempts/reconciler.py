"""Compares the rows with the cluster's state every few seconds, and acts on the difference.

    for every open attempt          ask Ray, look at heartbeats   →  well · launch again · lost
        run stopping                past its grace                →  end by force
        run paused for long         ask for a checkpoint          →  park: driver ended, run stays paused
    for every holder of lanes       whose attempt is closed       →  when its job is over: the run goes on with them,
                                                                     or they are ended and freed

All I/O with Ray happens outside transactions. Invariant: lanes are released only once their job is over and no process
is left on them, so that an allocated lane is really free. Any number of reconcilers may run at once: an attempt is
closed by a conditional UPDATE, and only the one that closes it acts.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from fleet.selectors import HoldingAttempt, holders
from fleet.services import release
from runs.attempts import lane_handover, recovery
from runs.attempts.driver_health import DriverHealth, Observation, judge
from runs.attempts.watched_since import WATCHED_SINCE
from runs.attempts.web_probe import WebProbe
from runs.cluster import ClusterGateway, ClusterUnavailable, JobStatus
from runs.enqueue import enqueue_on_commit
from runs.models import Attempt, AttemptOutcome, submission_id
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState
from worker.contracts.task_names import LAUNCH_RUN

logger = logging.getLogger(__name__)

CANCEL_GRACE = timedelta(seconds=10)
SAVING_GRACE = timedelta(minutes=2)
"""How long a stopped driver may take to save and exit, beyond its own bound `TANDEM_MAX_STOP_SECONDS`."""
ENDED_GRACE = timedelta(seconds=30)
"""How long a driver that reported its end may take to exit before its job is stopped."""


@dataclass(frozen=True, slots=True)
class Reconciler:
    """One reconciler. Silence of a driver before `watching_since` does not count."""

    gateway: ClusterGateway
    web: WebProbe
    watching_since: datetime = field(default_factory=WATCHED_SINCE.look)

    def tick(self) -> None:
        """Check every open attempt and every holder of lanes. An error with one is raised at the end, after the
        others."""
        errors: list[Exception] = []
        for key in list(Attempt.objects.filter(ended_at=None).values_list("pk", flat=True)):
            with _kept_for_later(errors):
                self.watch(key)
        for holder in holders():
            with _kept_for_later(errors):
                self.free_lanes(holder)
        if errors:
            raise ExceptionGroup("some runs could not be reconciled", errors)

    def watch(self, key: int) -> None:
        """Check one open attempt and act on its state."""
        asked = _open_attempt(key)
        job = None if asked is None else self._job(asked)
        # The row is read again, because the driver may have posted, or reported its end, while Ray was being asked.
        attempt = _open_attempt(key)
        if attempt is None:
            return
        seen = self._observation(attempt, job)
        verdict, reason = judge(seen)
        if verdict in (DriverHealth.LATE, DriverHealth.SILENT):
            verdict = self._judge_silence(attempt, verdict)
        if verdict is DriverHealth.LOST:
            self._lose(attempt, reason)
        elif verdict is DriverHealth.LAUNCH_AGAIN:
            enqueue_on_commit(LAUNCH_RUN, str(attempt.run_id), attempt.number)
        elif attempt.run.run_state is RunState.STOPPING:
            self._stop_if_overdue(attempt, seen.now)
        elif _paused_for_long(attempt, seen.now) and recovery.park(attempt):
            self._stop(attempt)

    def free_lanes(self, holder: HoldingAttempt) -> None:
        """Release the lanes of a closed attempt once its job is over, unless its run goes on with them; stop the job if
        it takes too long."""
        attempt = Attempt.objects.filter(run_id=holder.run_id, number=holder.attempt).select_related("run").first()
        if attempt is not None and attempt.ended_at is None:
            return
        name = submission_id(holder.run_id, holder.attempt)
        if self.gateway.status(name).is_over:
            if attempt is not None and _needs_log_tail(attempt):
                recovery.store_log_tail(attempt, self.gateway.log_tail(name))
            if attempt is not None and lane_handover.go_on(attempt, self.gateway) is not None:
                logger.info("%s: the run goes on with its lanes", attempt)
            elif lane_handover.are_ended(holder, self.gateway):
                release(run_id=holder.run_id, attempt=holder.attempt)
        elif _should_be_over(attempt):
            self.gateway.stop(name)

    def _job(self, attempt: Attempt) -> JobStatus | None:
        if attempt.submitted_at is None:
            return None
        try:
            return self.gateway.status(attempt.submission_id)
        except ClusterUnavailable as error:
            logger.warning("%s: judged by its heartbeats alone: %s", attempt, error)
            return None

    def _observation(self, attempt: Attempt, job: JobStatus | None) -> Observation:
        return Observation(
            now=timezone.now(),
            created_at=attempt.created_at,
            submitted_at=attempt.submitted_at,
            bootstrap_expires_at=attempt.bootstrap_expires_at,
            bootstrap_used_at=attempt.bootstrap_used_at,
            last_heartbeat_at=attempt.run.last_heartbeat_at,
            silent_from=attempt.silent_from,
            watching_since=self.watching_since,
            job=job,
            detail=attempt.detail,
        )

    def _judge_silence(self, attempt: Attempt, verdict: DriverHealth) -> DriverHealth:
        """Excuse it while the web is away, so that it counts from the web's return on, not from the last heartbeat."""
        if self.web.is_up():
            return DriverHealth.LOST if verdict is DriverHealth.SILENT else DriverHealth.WELL
        logger.warning("%s: silent because the web does not answer; its silence is excused", attempt)
        Attempt.objects.filter(pk=attempt.pk).update(silent_from=timezone.now())
        return DriverHealth.WELL

    def _lose(self, attempt: Attempt, reason: str) -> None:
        log_tail = self._log_tail(attempt)
        if recovery.driver_lost(attempt, reason=reason, log_tail=log_tail):
            logger.warning("%s: %s", attempt, reason)
            self._stop(attempt)

    def _stop_if_overdue(self, attempt: Attempt, now: datetime) -> None:
        run = attempt.run
        grace = CANCEL_GRACE if run.ending == CommandKind.CANCEL else _stop_grace()
        since = run.ending_at or run.state_changed_at
        if now - since > grace:
            reason = f"the driver did not end within {grace.total_seconds():.0f} s, its job was stopped"
            if recovery.end_by_force(attempt, reason=reason, log_tail=self._log_tail(attempt)):
                self._stop(attempt)

    def _log_tail(self, attempt: Attempt) -> str:
        try:
            return self.gateway.log_tail(attempt.submission_id)
        except ClusterUnavailable as error:
            return f"(no log: {error})"

    def _stop(self, attempt: Attempt) -> None:
        """Try to stop the job; `free_lanes` retries until it is over."""
        try:
            self.gateway.stop(attempt.submission_id)
        except ClusterUnavailable as error:
            logger.warning("%s could not be stopped yet: %s", attempt, error)


@contextmanager
def _kept_for_later(errors: list[Exception]) -> Iterator[None]:
    """Logs an unavailable cluster, which is expected, and collects any other error, to be raised after the round."""
    try:
        yield
    except ClusterUnavailable as error:
        logger.warning("%s", error)
    except Exception as error:
        errors.append(error)


def _open_attempt(key: int) -> Attempt | None:
    rows = Attempt.objects.select_related("run").defer("run__prompts")
    return rows.filter(pk=key, ended_at=None).first()


def _paused_for_long(attempt: Attempt, now: datetime) -> bool:
    limit = timedelta(seconds=settings.TANDEM_MAX_PAUSE_SECONDS)
    return attempt.run.run_state is RunState.PAUSED and now - attempt.run.state_changed_at > limit


def _stop_grace() -> timedelta:
    return timedelta(seconds=settings.TANDEM_MAX_STOP_SECONDS) + SAVING_GRACE


def _needs_log_tail(attempt: Attempt) -> bool:
    return attempt.run.run_state is RunState.FAILED and not attempt.log_tail


def _should_be_over(attempt: Attempt | None) -> bool:
    """A driver that reported its end gets time to exit; any other closed attempt gets none."""
    if attempt is None or attempt.outcome != AttemptOutcome.ENDED or attempt.ended_at is None:
        return True
    return timezone.now() - attempt.ended_at > ENDED_GRACE
