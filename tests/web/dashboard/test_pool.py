"""The pool as a user may see it: everybody sees which lanes are held, members alone by what."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, ServiceState
from fleet.services import allocate
from fleet.states.standing import PoolState
from runs.models import Run
from runs.pool.pool_view import SOMEBODY_ELSES, pool_rows
from tests.web.lane_holders import held_by

MakeRun = Callable[..., Run]


@pytest.fixture
def held_by_a_run(make_run: MakeRun, project: Project) -> Run:
    ensure_local_lanes(num_cpu_lanes=4)
    run = make_run(project=project, name="secret recipe")
    assert allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes) is not None
    return run


def test_a_member_sees_which_run_holds_a_lane(bob: User, held_by_a_run: Run) -> None:
    (node,) = pool_rows(bob)
    assert (node.num_held, node.num_lanes) == (3, 4)
    assert {lane.run_name for lane in node.lanes if lane.state is PoolState.ALLOCATED} == {"secret recipe"}


def test_an_outsider_sees_that_lanes_are_held_but_not_by_what(charlie: User, held_by_a_run: Run) -> None:
    (node,) = pool_rows(charlie)
    held = [lane for lane in node.lanes if lane.state is PoolState.ALLOCATED]
    assert {(lane.run_id, lane.run_name) for lane in held} == {(None, SOMEBODY_ELSES)}
    assert "secret recipe" not in str(node)
    assert str(held_by_a_run.pk) not in str(node)


def test_a_cordoned_lane_is_shown_as_such(bob: User, held_by_a_run: Run) -> None:
    Lane.objects.filter(run_id=None).update(state=ServiceState.CORDONED)
    (node,) = pool_rows(bob)
    assert [lane.state for lane in node.lanes] == ["allocated", "allocated", "allocated", "cordoned"]


def test_the_page_is_a_shell_that_names_no_run(client: Client, charlie: User, held_by_a_run: Run) -> None:
    client.force_login(charlie)
    content = client.get(reverse("pool")).content.decode()
    assert 'data-page="pool"' in content
    assert "secret recipe" not in content


def test_a_gpu_has_a_page_that_names_its_node_and_no_run(client: Client, charlie: User, held_by_a_run: Run) -> None:
    ensure_local_lanes(num_cpu_lanes=4, gpu_indices=range(1))
    gpu = Gpu.objects.get()
    client.force_login(charlie)
    content = client.get(reverse("gpu", args=[gpu.pk])).content.decode()
    assert f'data-gpu="{gpu.pk}"' in content
    assert f'data-node="{gpu.node_id}"' in content
    assert "GPU 0 of local" in content
    assert "secret recipe" not in content
    assert client.get(reverse("gpu", args=[gpu.pk + 1])).status_code == 404
