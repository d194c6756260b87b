"""A remote scorer's token reaches the driver with the bootstrap answer, and nothing else of the platform."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Project, User
from catalog.models import Secret
from catalog.services import create_secret
from fleet.lane_layout import ensure_local_lanes
from runs.attempts.bootstrap import trade_code
from runs.attempts.launch import launch
from runs.models import Attempt, Run
from runs.queue.dispatch import start_attempt

TOKEN = "a-token-nobody-may-see"
REWARDS = [{"name": "remote", "settings": {"url": "https://scorer.example/score", "secret": "scorer"}}]

pytestmark = pytest.mark.django_db


@pytest.fixture
def starting(project: Project, alice: User, make_run: Callable[..., Run], make_spec: Callable[..., Any]) -> Attempt:
    create_secret(user=alice, project=project, name="scorer", host="scorer.example", value=TOKEN)
    ensure_local_lanes(num_cpu_lanes=3)
    return start_attempt(make_run(project=project, spec=make_spec(rewards=REWARDS)))


def test_the_token_comes_with_the_bootstrap_answer_and_is_in_no_jobs_environment(
    starting: Attempt, cluster: Any
) -> None:
    assert launch(run_id=starting.run_id, number=1, gateway=cluster)
    env = cluster.envs[starting.submission_id]
    assert TOKEN not in str(env)
    answer = trade_code(env["TANDEM_BOOTSTRAP_CODE"])
    assert answer.scorer_access.tokens == {"scorer": TOKEN}
    assert TOKEN not in repr(answer)
    assert TOKEN not in answer.spec.to_yaml()
    rows = [*Run.objects.values(), *Attempt.objects.values(), *Secret.objects.values()]
    assert not [row for row in rows if TOKEN in str(row)]


def test_a_secret_that_is_gone_fails_the_run_before_a_lane_is_touched(starting: Attempt, cluster: Any) -> None:
    Secret.objects.all().delete()
    assert not launch(run_id=starting.run_id, number=1, gateway=cluster)
    run = Run.objects.get(pk=starting.run_id)
    assert run.state == "failed"
    assert run.failure is not None
    assert "`rewards.0.settings.secret` must name a secret" in run.failure["reason"]
    assert cluster.jobs == {}
