"""Samples of a training batch come with the true mean and spread of their groups."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from runs.models import Run
from tests.web.gallery.test_records import samples_event

pytestmark = pytest.mark.django_db


def test_a_groups_mean_is_over_all_its_members_not_over_those_that_are_stored(
    run: Run, report: Callable[..., None], alice: User
) -> None:
    group = {"prompt_index": 0, "mean_reward": 0.25, "reward_std": 0.125, "has_spread": True}
    groups = {"type": "groups", "batch": 1, "groups": [group]}
    report(groups, samples_event(1), samples_event(1, purpose="evaluate"))
    api = APIClient()
    api.force_authenticate(alice)
    shown = api.get(f"/api/v1/runs/{run.pk}/samples", {"purpose": "train"}).json()
    assert [sample["reward"] for sample in shown["results"]] == [0.5, 0.5]
    (told,) = shown["groups"]
    assert (told["group"], told["mean_reward"], told["reward_std"]) == (0, 0.25, 0.125)
    held_out = api.get(f"/api/v1/runs/{run.pk}/samples", {"purpose": "evaluate"}).json()
    assert held_out["groups"] == []
