"""The best point of each sweep, in lists and in what webhooks are told at a sweep's end."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project, User
from hooks.hook_events import HookEvent
from hooks.message_forms import discord, mail_of, slack
from hooks.models import Delivery, Webhook
from runs.models import Sweep
from sweeps.advance import advance_all
from sweeps.best_points import best_points
from sweeps.selectors import listed_sweeps, sweep_body
from sweeps.services import stop_sweep
from tests.web.sweeps.conftest import MakeSweep
from tests.web.sweeps.swept_runs import runs_of, train

pytestmark = pytest.mark.django_db
RATE = "optimizer.learning_rate"


@pytest.fixture
def heard(project: Project) -> Webhook:
    """A webhook of the project that hears of sweeps."""
    return Webhook.objects.create(
        project=project, name="chat", address="https://chat.example/", events=[HookEvent.SWEEP_FINISHED], encrypted=""
    )


def test_the_best_point_is_that_with_the_best_mean_over_its_seeds_and_names_its_best_run(
    make_sweep: MakeSweep, alice: User
) -> None:
    sweep = make_sweep(num_seeds=2)
    advance_all()
    runs = runs_of(sweep)
    for run, values in zip(runs, ({5: 0.9, 10: 0.1}, {10: 0.2}, {10: 0.6}, {10: 0.2}), strict=False):
        train(run, values)
    best = best_points([sweep])[sweep.pk]
    assert (best["number"], round(best["value"], 6), best["run"]) == (2, 0.4, str(runs[2].pk))
    assert best["values"] == {RATE: 2e-4}
    assert sweep_body(alice, sweep)["points"][0]["value"] == pytest.approx(0.15), "a run counts with its newest value"


def test_where_less_is_better_the_least_is_the_best_and_the_first_of_equals(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(objective={"metric": "eval/reward", "maximise": False})
    advance_all()
    for run, value in zip(runs_of(sweep), (0.3, 0.2, 0.2, 0.4), strict=True):
        train(run, {10: value})
    assert best_points([sweep])[sweep.pk]["number"] == 2


def test_a_list_of_many_sweeps_takes_as_many_queries_as_one_of_one(make_sweep: MakeSweep, alice: User) -> None:
    def measured(name: str) -> Sweep:
        sweep = make_sweep(name=name)
        advance_all()
        train(runs_of(sweep)[0], {10: 0.5})
        return sweep

    def num_queries(sweeps: list[Sweep]) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert [row["best"] is not None for row in listed_sweeps(alice, sweeps)] == [True] * len(sweeps)
        return len(queries)

    sweeps = [measured(name) for name in ("a", "b", "c")]
    assert num_queries(sweeps) == num_queries(sweeps[:1])


def test_the_end_of_a_sweep_is_told_with_its_best_run_in_every_form(make_sweep: MakeSweep, heard: Webhook) -> None:
    sweep = make_sweep()
    advance_all()
    for run, value in zip(runs_of(sweep), (0.1, 0.45, 0.3, 0.2), strict=True):
        train(run, {10: value}, ends="completed")
    assert not Delivery.objects.exists()
    advance_all()
    advance_all()
    delivery = Delivery.objects.get()
    assert delivery.event == "sweep.finished"
    data = delivery.payload["data"]
    text = f"The sweep rates (Shapes) is completed: best eval/reward 0.45 at point 2 ({RATE} 0.0002)"
    assert (data["text"], data["sweep"]["state"]) == (text, "completed")
    assert data["url"].endswith(f"/sweeps/{sweep.pk}")
    assert (data["best"]["number"], data["best"]["run"]["id"]) == (2, str(runs_of(sweep)[1].pk))
    assert text in slack(data)["text"]
    assert discord(data)["content"].startswith(text)
    assert mail_of(delivery.payload)[0] == f"[Tandem] {text}"


def test_a_sweep_that_was_stopped_before_anything_was_measured_says_so(
    make_sweep: MakeSweep, heard: Webhook, alice: User
) -> None:
    stop_sweep(user=alice, sweep=make_sweep())
    advance_all()
    data = Delivery.objects.get().payload["data"]
    assert data["text"] == "The sweep rates (Shapes) is stopped (alice stopped it): nothing was measured"
    assert data["best"] is None
