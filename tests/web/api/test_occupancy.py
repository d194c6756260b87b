"""Occupancy over REST: bounded, by bucket, and without names that are not the user's to read."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, LaneUse
from fleet.states.occupancy import MAX_BUCKETS

pytestmark = pytest.mark.django_db
NOW = timezone.now()
WINDOW = {"since": (NOW - timedelta(hours=4)).isoformat(), "until": NOW.isoformat()}


@pytest.fixture(autouse=True)
def lanes(project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(2))
    Lane.objects.update(created_at=NOW - timedelta(days=1))
    lane = Lane.objects.filter(kind="gpu")[0]
    LaneUse.objects.create(
        lane=lane, label=lane.label, gpus=["a"], role="rollout", project=project, since=NOW - timedelta(hours=2)
    )


def test_the_areas_of_each_bucket_are_the_lanes(api: APIClient, project: Project) -> None:
    body = api.get("/api/v1/occupancy", {**WINDOW, "buckets": 4}).json()
    assert (body["kind"], len(body["at"]), round(body["bucket_seconds"])) == ("gpu", 4, 3600)
    lanes = {area["name"]: [round(value, 2) for value in area["lanes"]] for area in body["areas"]}
    assert lanes == {project.name: [0, 0, 1, 1], "idle": [2, 2, 1, 1]}
    assert [area["category"] for area in body["areas"]] == ["project", "idle"]


def test_outsiders_read_how_much_others_had_and_not_who(
    client_of: Callable[[User], APIClient], charlie: User, project: Project
) -> None:
    answer = client_of(charlie).get("/api/v1/occupancy", {**WINDOW, "buckets": 1})
    assert [area["name"] for area in answer.json()["areas"]] == ["other projects", "idle"]
    assert project.name not in answer.content.decode()
    assert str(project.pk) not in answer.content.decode()


def test_queries_that_make_no_sense_are_refused_by_field(api: APIClient) -> None:
    for wrong, field in (
        ({}, "since"),
        ({**WINDOW, "buckets": MAX_BUCKETS + 1}, "buckets"),
        ({**WINDOW, "buckets": 0}, "buckets"),
        ({**WINDOW, "kind": "tpu"}, "kind"),
        ({"since": WINDOW["until"], "until": WINDOW["since"]}, "since"),
    ):
        refused = api.get("/api/v1/occupancy", wrong)
        assert (refused.status_code, field in refused.json()["errors"]) == (400, True)
    assert APIClient().get("/api/v1/occupancy", WINDOW).status_code == 401
