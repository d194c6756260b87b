"""Plans over REST: for a spec before there is a run, and the plan that a run works by."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project
from fleet.lane_layout import ensure_local_lanes
from runs.models import Run
from runs.queue.dispatch import start_attempt
from telemetry.models import MetricPoint
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeSpec = Callable[..., RunSpec]
AUTO = {"pipeline": {"placement": "auto"}, "lanes": {"num_rollout": 2, "num_trainer": 1, "num_reward": 1}}


def asked(make_spec: MakeSpec, **sections: Any) -> dict[str, Any]:
    return {"spec": make_spec(**sections).model_dump(mode="json")}


def test_a_spec_is_planned_on_the_pools_lanes_free_or_not(api: APIClient, make_spec: MakeSpec) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    plan = api.post("/api/v1/plans", asked(make_spec, **AUTO)).json()
    assert plan["mode"] in plan["by_mode"]
    assert set(plan["by_mode"]) >= {"colocated", "disaggregated", "gap"}
    assert "stale" not in plan["by_mode"], "the spec does not allow stale samples"
    assert (plan["fits_pool"], plan["devices"], plan["costs"]) == (True, ["cpu"], "profile")
    larger = {**AUTO, "lanes": {"num_rollout": 6, "num_trainer": 2, "num_reward": 1}}
    assert api.post("/api/v1/plans", asked(make_spec, **larger)).json()["fits_pool"] is False


def test_errors_of_a_planned_spec_have_fields_and_an_empty_pool_is_explained(
    api: APIClient, make_spec: MakeSpec
) -> None:
    document = asked(make_spec)
    empty = api.post("/api/v1/plans", document)
    assert (empty.status_code, "add a node to it" in empty.json()["detail"]) == (409, True)
    document["spec"]["batch"]["group_size"] = 1
    refused = api.post("/api/v1/plans", document)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["spec.batch.group_size"])
    assert APIClient().post("/api/v1/plans", document).status_code == 401


def test_a_run_shows_the_plan_that_it_uses(
    api: APIClient, project: Project, make_run: Callable[..., Run], make_spec: MakeSpec
) -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    run = make_run(project=project, spec=make_spec(**AUTO))
    address = f"/api/v1/runs/{run.pk}/plan"
    assert api.get(address).json() == {"plan": None, "steps": []}
    start_attempt(run)
    plan = api.get(address).json()["plan"]
    assert plan["attempt"] == 1
    assert plan["by_mode"][plan["mode"]]["samples_per_second"] > 0
    (step,) = api.get(address).json()["steps"]
    assert (step["measured_seconds"], step["relative_error"]) == (None, None)
    of_run = {"run": run, "attempt": 1, "key": "speed/batch_seconds", "at": 1.0}
    for batch, seconds in ((1, 100.0), (2, 8.0), (3, 10.0)):
        MetricPoint.objects.create(**of_run, stream_seq=batch, batch=batch, optimizer_step=batch, value=seconds)
    (step,) = api.get(address).json()["steps"]
    assert step["measured_seconds"] == 9.0
    assert step["relative_error"] == pytest.approx(9.0 / step["batch_seconds"] - 1)
