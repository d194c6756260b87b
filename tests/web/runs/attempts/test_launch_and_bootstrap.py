import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from fleet.lane_layout import ensure_local_lanes
from runs.attempts import attempts
from runs.attempts.bootstrap import BootstrapRefused, prompts_of, trade_code
from runs.attempts.launch import launch
from runs.attempts.tokens import AttemptGone, TokenRefused, authorise
from runs.cluster import JobStatus
from runs.models import Attempt, AttemptOutcome, Run, RunTransition
from runs.queue.dispatch import start_attempt
from worker.contracts.names import RewardDevice


@pytest.fixture
def starting(make_run: Callable[..., Run]) -> Attempt:
    ensure_local_lanes(num_cpu_lanes=3)
    return start_attempt(make_run(resume_from="file:///c/attempt-1/b2", resume_batch=2))


@pytest.fixture
def code(starting: Attempt, cluster: Any) -> str:
    assert launch(run_id=starting.run_id, number=1, gateway=cluster)
    return cluster.envs[starting.submission_id]["TANDEM_BOOTSTRAP_CODE"]


@pytest.mark.django_db
def test_launching_submits_a_job_that_carries_the_code_and_no_other_secret(starting: Attempt, cluster: Any) -> None:
    assert launch(run_id=starting.run_id, number=1, gateway=cluster)
    assert cluster.jobs == {f"tandem-{starting.run_id}-1": JobStatus.RUNNING}
    env = cluster.envs[starting.submission_id]
    assert set(env) == {"TANDEM_BOOTSTRAP_CODE", "TANDEM_PUBLIC_URL"}
    starting.refresh_from_db()
    assert starting.submitted_at is not None
    assert env["TANDEM_BOOTSTRAP_CODE"].partition(".")[2] not in (starting.bootstrap_code_hash, "")


@pytest.mark.django_db
def test_a_second_launch_of_an_attempt_does_nothing(starting: Attempt, cluster: Any) -> None:
    assert launch(run_id=starting.run_id, number=1, gateway=cluster)
    code = cluster.envs[starting.submission_id]["TANDEM_BOOTSTRAP_CODE"]
    assert not launch(run_id=starting.run_id, number=1, gateway=cluster)
    assert not launch(run_id=starting.run_id, number=2, gateway=cluster)
    assert trade_code(code).attempt == 1, "the second launch must not have replaced the code"


@pytest.mark.django_db
def test_an_attempt_closed_meanwhile_is_not_launched(starting: Attempt, cluster: Any) -> None:
    attempts.close(starting.run_id, 1, AttemptOutcome.CLOSED, detail="cancelled")
    assert not launch(run_id=starting.run_id, number=1, gateway=cluster)
    assert cluster.jobs == {}


@pytest.mark.django_db
def test_a_cluster_that_is_away_leaves_the_attempt_to_be_launched_again(starting: Attempt, cluster: Any) -> None:
    cluster.away = True
    assert not launch(run_id=starting.run_id, number=1, gateway=cluster)
    starting.refresh_from_db()
    assert starting.submitted_at is None
    assert "could not be reached" in starting.detail
    cluster.away = False
    assert launch(run_id=starting.run_id, number=1, gateway=cluster)


@pytest.mark.django_db
def test_a_model_that_is_gone_fails_the_run_with_what_to_do(
    starting: Attempt, cluster: Any, settings: Settings, tmp_path: Path
) -> None:
    settings.TANDEM_MODEL_ROOTS = [tmp_path]
    assert not launch(run_id=starting.run_id, number=1, gateway=cluster)
    run = Run.objects.get(pk=starting.run_id)
    assert run.failure is not None
    assert run.state == "failed"
    assert "`base_model.path` `shapes` is no folder" in run.failure["reason"]
    assert "Choose a base model from the list in the form." in run.failure["suggestions"]
    assert attempts.open_attempt(run.pk) is None


@pytest.mark.django_db
def test_the_code_is_exchanged_for_all_that_the_driver_needs(starting: Attempt, code: str, settings: Settings) -> None:
    settings.TANDEM_CHECKPOINTS = "s3://bucket/checkpoints/"
    settings.TANDEM_MAX_STOP_SECONDS = 77.0
    answer = trade_code(code)
    run = Run.objects.get(pk=starting.run_id)
    assert (answer.run, answer.attempt, answer.first_seq) == (run.pk, 1, 1)
    assert answer.spec == run.run_spec.scoring_on(RewardDevice.CPU), "on what its lanes score is decided"
    assert prompts_of(starting).prompts == run.run_spec.prompts.inline
    assert answer.base_model_path.endswith("/shapes")
    assert [lane.lane for lane in answer.lanes] == ["rollout-0", "trainer-0", "reward-0"]
    assert answer.checkpoints == f"s3://bucket/checkpoints/{run.pk}/attempt-1"
    assert answer.resume_from == "file:///c/attempt-1/b2"
    assert answer.stop_seconds == 77.0
    assert authorise(run_id=run.pk, attempt=1, token=answer.token) == starting
    assert run.last_heartbeat_at is not None


@pytest.mark.django_db
def test_only_hashes_of_code_and_token_are_kept(starting: Attempt, code: str) -> None:
    token = trade_code(code).token
    row = Attempt.objects.values().get(pk=starting.pk)
    secrets = (token, code, code.partition(".")[2])
    assert not [value for value in row.values() for secret in secrets if secret in str(value)]


@pytest.mark.django_db
def test_a_code_is_accepted_once(code: str) -> None:
    trade_code(code)
    with pytest.raises(BootstrapRefused, match="used before"):
        trade_code(code)


@pytest.mark.django_db
def test_a_code_expires(starting: Attempt, code: str) -> None:
    Attempt.objects.update(bootstrap_expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(BootstrapRefused, match="expired"):
        trade_code(code)


@pytest.mark.django_db
def test_a_code_is_void_once_its_attempt_has_ended(starting: Attempt, code: str) -> None:
    attempts.close(starting.run_id, 1, AttemptOutcome.CLOSED, detail="cancelled")
    with pytest.raises(BootstrapRefused, match="attempt 1 has ended: cancelled"):
        trade_code(code)


@pytest.mark.django_db
@pytest.mark.parametrize("change", [lambda c: "", lambda c: c[:-1], lambda c: "0." + c, lambda c: c.partition(".")[2],
                                    lambda c: "²." + c, lambda c: c.partition(".")[0] + "."])  # fmt: skip
def test_any_other_code_is_not_known(code: str, change: Any) -> None:
    with pytest.raises(BootstrapRefused, match="not known"):
        trade_code(change(code))
    assert trade_code(code)


@pytest.mark.django_db(transaction=True)
def test_of_two_exchanges_at_once_one_is_refused(starting: Attempt, code: str) -> None:
    outcomes: list[str] = []

    def act() -> None:
        try:
            outcomes.append("token" if trade_code(code).token else "")
        except BootstrapRefused:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=act) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert sorted(outcomes) == ["refused", "token"]


@pytest.mark.django_db
def test_a_token_is_valid_for_its_run_and_attempt_only(
    starting: Attempt, code: str, make_run: Callable[..., Run]
) -> None:
    token = trade_code(code).token
    other = make_run()
    cases: list[tuple[UUID | str, int, str]] = [
        (starting.run_id, 1, token + "x"),
        (starting.run_id, 1, ""),
        (starting.run_id, 2, token),
        (other.pk, 1, token),
        ("no-uuid", 1, token),
    ]
    for run_id, attempt, wrong in cases:
        with pytest.raises(TokenRefused):
            authorise(run_id=run_id, attempt=attempt, token=wrong)


@pytest.mark.django_db
def test_an_attempt_that_never_had_a_token_has_none(starting: Attempt) -> None:
    with pytest.raises(TokenRefused):
        authorise(run_id=starting.run_id, attempt=1, token="")


@pytest.mark.django_db
def test_older_attempts_and_ended_runs_are_fenced_off(starting: Attempt, code: str) -> None:
    token = trade_code(code).token
    Run.objects.update(state="completed")
    with pytest.raises(AttemptGone):
        authorise(run_id=starting.run_id, attempt=1, token=token)
    Run.objects.update(state="queued")
    attempts.close(starting.run_id, 1, AttemptOutcome.LOST, detail="no heartbeat")
    with pytest.raises(AttemptGone, match="no heartbeat"):
        authorise(run_id=starting.run_id, attempt=1, token=token)
    start_attempt_2 = Attempt.objects.create(run=starting.run, number=2)
    Run.objects.update(attempt=2)
    with pytest.raises(AttemptGone):
        authorise(run_id=starting.run_id, attempt=1, token=token)
    assert start_attempt_2.ended_at is None
    assert not RunTransition.objects.filter(new="completed").exists()
