"""A cluster of jobs alone, for services whose cluster is not what is tested: the real one runs in the browser tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runs.attempts import lane_handover
from runs.cluster import ENTRYPOINT, ClusterUnavailable, JobStatus, RayNode
from worker.contracts.lanes import LaneGrant


@dataclass
class FakeCluster:
    """Jobs by submission id, with what they were submitted with. Stopping takes effect at once unless `stubborn`, and
    so does ending the lanes that a driver has left unless `is_ending_slow`."""

    jobs: dict[str, JobStatus] = field(default_factory=dict)
    envs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    entrypoints: dict[str, str] = field(default_factory=dict)
    lanes: dict[str, LaneGrant | None] = field(default_factory=dict)
    alive: tuple[RayNode, ...] = (RayNode(label="local", has_gpus=True),)
    logs: str = ""
    away: bool = False
    stubborn: bool = False
    is_ending_slow: bool = False
    stopped: list[str] = field(default_factory=list)

    def submit(
        self, submission_id: str, env: Mapping[str, str], *, entrypoint: str = ENTRYPOINT, lane: LaneGrant | None = None
    ) -> None:
        self._answer()
        is_over = entrypoint == lane_handover.ENTRYPOINT and not self.is_ending_slow
        self.jobs.setdefault(submission_id, JobStatus.SUCCEEDED if is_over else JobStatus.RUNNING)
        self.envs.setdefault(submission_id, env)
        self.entrypoints.setdefault(submission_id, entrypoint)
        self.lanes.setdefault(submission_id, lane)

    def status(self, submission_id: str) -> JobStatus:
        self._answer()
        return self.jobs.get(submission_id, JobStatus.UNKNOWN)

    def log_tail(self, submission_id: str) -> str:
        self._answer()
        return self.logs

    def stop(self, submission_id: str) -> None:
        self._answer()
        self.stopped.append(submission_id)
        if submission_id in self.jobs and not self.stubborn:
            self.jobs[submission_id] = JobStatus.STOPPED

    def nodes(self) -> tuple[RayNode, ...]:
        self._answer()
        return self.alive

    def _answer(self) -> None:
        if self.away:
            raise ClusterUnavailable("Ray could not be reached")
