"""Forks, lineages and previews of chosen versions over REST."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from gallery.models import CheckpointRecord
from runs.models import Run
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db


@pytest.fixture
def checkpoint(make_run: Callable[..., Run], project: Project, tmp_path: Path) -> CheckpointRecord:
    files = tmp_path / "attempt-1" / "batch-000001"
    files.mkdir(parents=True)
    return CheckpointRecord.objects.create(
        run=make_run(project=project, name="parent", state="completed"),
        uri=f"file://{files}",
        attempt=1,
        stream_seq=1,
        batch=1,
        policy_version=1,
        optimizer_step=4,
        num_bytes=9,
        at=1.0,
    )


@pytest.fixture
def body(project: Project, checkpoint: CheckpointRecord, make_spec: Callable[..., RunSpec]) -> dict[str, Any]:
    """A request for a fork of the checkpoint."""
    spec = make_spec(seed=1).model_dump(mode="json")
    parent = str(checkpoint.run_id)
    return {"project": str(project.pk), "name": "fork", "spec": spec, "parent": parent, "checkpoint": checkpoint.pk}


def test_a_run_is_forked_and_stands_in_its_parents_lineage(api: APIClient, body: dict[str, Any]) -> None:
    made = api.post("/api/v1/runs", body)
    assert made.status_code == 201
    fork = made.json()
    assert (fork["parent"], fork["forked_batch"], fork["num_batches_done"]) == (body["parent"], 1, 1)
    lineage = api.get(f"/api/v1/runs/{body['parent']}/lineage").json()
    assert [(run["name"], run["forked_batch"], run["checkpoints"]) for run in lineage["runs"]] == [
        ("parent", None, [1]),
        ("fork", 1, []),
    ]
    (listed,) = api.get(f"/api/v1/runs/{body['parent']}/checkpoints").json()["results"]
    assert (listed["id"], listed["is_kept"]) == (body["checkpoint"], True)
    refused = api.delete(f"/api/v1/runs/{body['parent']}")
    assert refused.status_code == 409
    assert "fork was forked from it" in refused.json()["detail"]


def test_validation_knows_what_the_checkpoint_asks_of_the_spec(api: APIClient, body: dict[str, Any]) -> None:
    asked = {"spec": {**body["spec"], "lora": {"rank": 4}}, "parent": body["parent"]}
    assert api.post("/api/v1/runs:validate", asked).json()["ok"]
    answer = api.post("/api/v1/runs:validate", {**asked, "checkpoint": body["checkpoint"]}).json()
    assert list(answer["errors"]) == ["lora.rank"]
    refused = api.post("/api/v1/runs", {**body, "spec": asked["spec"]})
    assert "spec.lora.rank" in refused.json()["errors"]


def test_a_checkpoint_needs_its_own_run(
    api: APIClient, client_of: Callable[[User], APIClient], body: dict[str, Any], charlie: User
) -> None:
    alone = {key: value for key, value in body.items() if key != "parent"}
    assert list(api.post("/api/v1/runs", alone).json()["errors"]) == ["parent"]
    assert list(api.post("/api/v1/runs", {**body, "checkpoint": 10**6}).json()["errors"]) == ["checkpoint"]
    assert client_of(charlie).get(f"/api/v1/runs/{body['parent']}/lineage").status_code == 404


def test_a_version_to_preview_is_chosen_by_its_id(api: APIClient, body: dict[str, Any]) -> None:
    refused = api.post(f"/api/v1/runs/{body['parent']}/previews", {"prompts": ["x"], "adapter": 7})
    assert list(refused.json()["errors"]) == ["adapter"]
