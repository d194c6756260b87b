"""A cluster and a web that do what the test says: fakes of the two things outside the database."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from accounts.secrets import hash_secret
from fleet.lane_layout import ensure_local_lanes
from fleet.services import allocate
from runs.attempts import attempts
from runs.attempts.reconciler import Reconciler
from runs.cluster import JobStatus
from runs.models import Attempt, Run
from runs.planning.auto_placement import ResolvedPlacement
from tests.web.fake_cluster import FakeCluster
from tests.web.lane_holders import held_by
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

TOKEN = "the run's token"


@dataclass
class FakeWeb:
    up: bool = True

    def is_up(self) -> bool:
        return self.up


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def web() -> FakeWeb:
    return FakeWeb()


@pytest.fixture
def reconciler(cluster: FakeCluster, web: FakeWeb) -> Reconciler:
    return Reconciler(gateway=cluster, web=web, watching_since=datetime(2020, 1, 1, tzinfo=UTC))


LiveRun = Callable[..., Attempt]


@pytest.fixture
def live_run(make_run: Callable[..., Run], cluster: FakeCluster) -> LiveRun:
    """A run with lanes and a driver that is up: its attempt."""

    def make(state: RunState = RunState.RUNNING, spec: RunSpec | None = None, **fields: object) -> Attempt:
        ensure_local_lanes(num_cpu_lanes=6)
        run = make_run(spec=spec, state=state.value, **fields)
        attempt = attempts.mint(run, 1, ResolvedPlacement(run.run_spec))
        allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes)
        now = timezone.now()
        Attempt.objects.filter(pk=attempt.pk).update(
            submitted_at=now,
            bootstrap_used_at=now,
            bootstrap_code_hash=hash_secret("used"),
            token_hash=hash_secret(TOKEN),
        )
        Run.objects.filter(pk=run.pk).update(last_heartbeat_at=now, **fields)
        cluster.jobs[attempt.submission_id] = JobStatus.RUNNING
        return Attempt.objects.select_related("run").get(pk=attempt.pk)

    return make
