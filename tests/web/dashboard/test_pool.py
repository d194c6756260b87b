"""The pool page shows everybody which lanes are held, but names only runs that the user may see."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Project, User
from fleet.models import Lane
from fleet.services import allocate, ensure_local_lanes
from runs.models import Run
from runs.pool_view import pool_rows
from tests.web.lane_holders import held_by

MakeRun = Callable[..., Run]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def held_by_a_run(make_run: MakeRun, project: Project) -> Run:
    ensure_local_lanes(num_cpu_lanes=4)
    run = make_run(project=project, name="secret recipe")
    assert allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes) is not None
    return run


def test_a_member_sees_which_run_holds_a_lane(bob: User, held_by_a_run: Run) -> None:
    (node,) = pool_rows(bob)
    assert (node.num_held, node.num_lanes) == (3, 4)
    assert {lane.run_name for lane in node.lanes if lane.state == "held"} == {"secret recipe"}


def test_an_outsider_sees_that_lanes_are_held_but_not_by_what(
    client: Client, charlie: User, held_by_a_run: Run
) -> None:
    client.force_login(charlie)
    content = client.get(reverse("pool")).content.decode()
    assert "3 of 4 lanes held" in content
    assert "a run of another project" in content
    assert "secret recipe" not in content
    assert str(held_by_a_run.pk) not in content


def test_a_cordoned_lane_is_shown_as_such(bob: User, held_by_a_run: Run) -> None:
    Lane.objects.filter(run_id=None).update(cordoned=True)
    (node,) = pool_rows(bob)
    assert [lane.state for lane in node.lanes] == ["held", "held", "held", "cordoned"]


def test_the_words_of_the_table_are_defined_as_in_the_glossary(client: Client, bob: User) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    client.force_login(bob)
    titles = re.findall(r'<abbr class="term" title="([^"]+)">', client.get(reverse("pool")).content.decode())
    glossary = " ".join((ROOT / "deploy/docs/reference/glossary.md").read_text().split())
    assert len(titles) == 2
    assert all(title in glossary for title in titles)


def test_an_empty_pool_says_what_to_do(client: Client, bob: User) -> None:
    client.force_login(bob)
    assert b"No nodes yet" in client.get(reverse("pool")).content
