"""The pool over REST: everybody reads, pool admins cordon, and no run of another project is named."""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, Node, StateChange
from fleet.services import allocate
from fleet.states.standing import PoolState
from runs.models import Run
from tests.web.fleet.node_posts import alive, card, post, report
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    ensure_local_lanes(num_cpu_lanes=4)
    made = make_run(project=project, name="secret recipe")
    assert allocate(holder=held_by(made.pk, 1), wanted=made.run_spec.granted_lanes) is not None
    return made


def results(client: APIClient, path: str, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/{path}", query)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_members_see_what_holds_a_lane_and_outsiders_only_that_it_is_held(
    api: APIClient, client_of: ClientOf, charlie: User, run: Run
) -> None:
    (node,) = results(api, "nodes")
    assert (node["name"], node["num_held"], node["num_lanes"], node["is_drained"]) == ("local", 3, 4, False)
    assert api.get(f"/api/v1/nodes/{node['id']}").json() == node
    assert {lane["run_id"] for lane in node["lanes"] if lane["state"] == "allocated"} == {str(run.pk)}
    seen = results(client_of(charlie), "lanes", state="allocated", kind="cpu", node="local")
    assert {(lane["run_id"], lane["run_name"]) for lane in seen} == {(None, "a run of another project")}
    assert results(api, "lanes", kind="gpu") == []


def test_an_admin_drains_a_node_and_gives_it_back(pool_admin: APIClient, run: Run) -> None:
    (node,) = results(pool_admin, "nodes")
    address = f"/api/v1/nodes/{node['id']}/actions"
    drained = pool_admin.post(address, {"action": "drain", "reason": "new cables"}).json()
    assert (drained["state"], drained["is_drained"], drained["num_held"]) == (PoolState.DRAINING, False, 3)
    assert (drained["reason"], drained["changed_by"]) == ("new cables", "pool-admin")
    assert pool_admin.post(address, {"action": "resume"}).json()["state"] == PoolState.AVAILABLE


def test_an_admin_cordons_one_lane(pool_admin: APIClient, run: Run) -> None:
    (free,) = results(pool_admin, "lanes", state="available")
    address = f"/api/v1/lanes/{free['id']}/actions"
    assert pool_admin.post(address, {"action": "cordon", "reason": "too hot"}).json()["state"] == "cordoned"
    refused = pool_admin.post(address, {"action": "drain", "reason": "too hot"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["action"])


def test_an_admin_cordons_one_gpu(pool_admin: APIClient, db: None) -> None:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(2), accelerator="H100")
    (gpu, other) = results(pool_admin, "gpus", accelerator="H100")
    assert (gpu["lane"], gpu["state"], gpu["live"], gpu["reported_at"]) == ("local/gpu-0", "available", None, None)
    address = f"/api/v1/gpus/{gpu['id']}"
    assert pool_admin.post(f"{address}/actions", {"action": "drain", "reason": "Xid 63"}).json()["state"] == "draining"
    assert pool_admin.get(address).json()["reason"] == "Xid 63"
    assert [lane["state"] for lane in results(pool_admin, "lanes", kind="gpu")] == ["draining", "available"]
    assert results(pool_admin, "gpus", state="available") == [other]
    assert pool_admin.get("/api/v1/gpus/99").status_code == 404
    assert Gpu.objects.get(pk=gpu["id"]).changed_by == "pool-admin"


def test_admins_write_labels_notes_and_prices_and_everybody_reads_them(
    pool_admin: APIClient, api: APIClient, db: None
) -> None:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(1))
    (node,) = results(pool_admin, "nodes")
    address = f"/api/v1/nodes/{node['id']}"
    written = {"labels": {"rack": "r2"}, "notes": "noisy fan", "price_per_gpu_hour": "2.4900"}
    assert pool_admin.patch(address, written, format="json").status_code == 200
    (seen,) = results(api, "nodes")
    assert {field: seen[field] for field in written} == written
    assert pool_admin.patch(address, {"price_per_gpu_hour": None}, format="json").json()["notes"] == "noisy fan"
    (gpu,) = results(api, "gpus")
    assert api.patch(f"/api/v1/gpus/{gpu['id']}", {"notes": "mine"}, format="json").status_code == 403
    refused = pool_admin.patch(f"/api/v1/gpus/{gpu['id']}", {"labels": {"a b": "c"}}, format="json")
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["labels"])


def test_admins_say_how_many_gpus_make_a_lane(pool_admin: APIClient, api: APIClient, db: None) -> None:
    post(alive("n0"), reports=(report(alive("n0"), *(card(f"GPU-{index}", index) for index in range(4))),))
    (node,) = results(api, "nodes")
    address = f"/api/v1/nodes/{node['id']}"
    assert (node["gpus_per_lane"], len(results(api, "lanes", kind="gpu"))) == (1, 4)
    assert api.patch(address, {"gpus_per_lane": 2}, format="json").status_code == 403
    assert list(pool_admin.patch(address, {"gpus_per_lane": 17}, format="json").json()["errors"]) == ["gpus_per_lane"]
    changed = pool_admin.patch(address, {"gpus_per_lane": 2, "notes": "pairs"}, format="json").json()
    assert (changed["gpus_per_lane"], changed["notes"]) == (2, "pairs")
    assert [lane["device"] for lane in results(api, "lanes", kind="gpu")] == ["0,1", "2,3"]
    assert {gpu["lane"] for gpu in results(api, "gpus")} == {"n0/gpu-0", "n0/gpu-2"}


def test_others_may_not_and_cordoning_needs_a_reason(api: APIClient, pool_admin: APIClient, run: Run) -> None:
    (node,) = results(api, "nodes")
    address = f"/api/v1/nodes/{node['id']}/actions"
    assert api.post(address, {"action": "cordon", "reason": "mine"}).status_code == 403
    assert list(pool_admin.post(address, {"action": "cordon"}).json()["errors"]) == ["reason"]
    assert pool_admin.post("/api/v1/nodes/99/actions", {"action": "resume"}).status_code == 404
    assert APIClient().get("/api/v1/nodes").status_code == 401


@pytest.fixture
def gpu_pool(db: None) -> list[int]:
    """Ids of the GPUs of two nodes."""
    nodes = [alive(name) for name in ("gpu0", "gpu1")]
    reports = tuple(report(node, card(f"{node.name}-a", 0), card(f"{node.name}-b", 1)) for node in nodes)
    post(*nodes, reports=reports)
    return list(Gpu.objects.values_list("pk", flat=True))


def test_one_action_concerns_several_nodes_and_answers_with_those(pool_admin: APIClient, gpu_pool: list[int]) -> None:
    body = {"action": "cordon", "reason": "Xid 79", "gpus": [gpu_pool[0], gpu_pool[3]]}
    answer = pool_admin.post("/api/v1/pool/actions", body, format="json")
    assert [node["name"] for node in answer.json()["results"]] == ["gpu0", "gpu1"]
    assert [gpu["state"] for gpu in results(pool_admin, "gpus")] == ["cordoned", "available", "available", "cordoned"]
    one = {"action": "resume", "gpus": gpu_pool[:1]}
    assert [node["name"] for node in pool_admin.post("/api/v1/pool/actions", one, format="json").json()["results"]] == [
        "gpu0"
    ]


def test_one_action_is_done_on_all_or_on_none(pool_admin: APIClient, gpu_pool: list[int]) -> None:
    lanes = list(Lane.objects.filter(kind="cpu").values_list("pk", flat=True))
    node = Node.objects.all()[0].pk
    for body, field in (
        ({"action": "cordon", "reason": "x", "nodes": [node], "gpus": [*gpu_pool, 10**6]}, "gpus"),
        ({"action": "drain", "reason": "x", "nodes": [node], "gpus": gpu_pool, "lanes": lanes}, "action"),
        ({"action": "cordon", "reason": " ", "nodes": [node], "gpus": gpu_pool}, "reason"),
        ({"action": "cordon", "reason": "x", "gpus": [0]}, "gpus.0"),
        ({"action": "cordon", "reason": "x", "gpus": [2**63]}, "gpus.0"),
        ({"action": "cordon", "reason": "x", "gpus": list(range(1, 1002))}, "gpus"),
    ):
        refused = pool_admin.post("/api/v1/pool/actions", body, format="json")
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    assert not StateChange.objects.exists()
    assert {gpu["state"] for gpu in results(pool_admin, "gpus")} == {"available"}


def test_others_may_not_act_on_several(api: APIClient, gpu_pool: list[int]) -> None:
    body = {"action": "cordon", "reason": "mine", "gpus": gpu_pool}
    assert api.post("/api/v1/pool/actions", body, format="json").status_code == 403
    assert APIClient().post("/api/v1/pool/actions", body, format="json").status_code == 401
    assert not StateChange.objects.exists()


def test_a_held_gpu_says_what_it_is_once_it_is_free(pool_admin: APIClient, gpu_pool: list[int]) -> None:
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=LaneSpec(num_rollout=3)) is not None
    pool_admin.post("/api/v1/pool/actions", {"action": "drain", "reason": "hot", "gpus": gpu_pool[:1]}, format="json")
    (first, second, *_) = results(pool_admin, "gpus")
    assert (first["state"], first["state_when_free"], first["reason"]) == ("allocated", "draining", "hot")
    assert (second["state"], second["state_when_free"]) == ("allocated", "available")
    lane = results(pool_admin, "lanes", state="allocated", kind="gpu")[0]
    assert (lane["state_when_free"], lane["takes_work"], lane["changed_by"]) == ("draining", False, "pool-admin")


def test_a_history_names_who_did_what_and_why_the_newest_first(pool_admin: APIClient, gpu_pool: list[int]) -> None:
    node = Gpu.objects.get(pk=gpu_pool[0]).node_id
    for action, target in (
        ("cordon", {"gpus": gpu_pool[:1]}),
        ("drain", {"nodes": [node]}),
        ("resume", {"nodes": [node]}),
    ):
        pool_admin.post("/api/v1/pool/actions", {"action": action, "reason": "fans", **target}, format="json")
    expected = [
        ("node", "gpu0", "draining", "active", "", "pool-admin"),
        ("node", "gpu0", "active", "draining", "fans", "pool-admin"),
        ("gpu", "gpu0-a", "active", "cordoned", "fans", "pool-admin"),
    ]
    lane = Lane.objects.get(gpus=gpu_pool[0]).pk
    for path, rows in (
        (f"nodes/{node}/history", expected),
        (f"gpus/{gpu_pool[0]}/history", expected),
        (f"gpus/{gpu_pool[1]}/history", expected[:2]),
        (f"lanes/{lane}/history", expected[:2]),
        (f"gpus/{gpu_pool[3]}/history", []),
    ):
        found = results(pool_admin, path)
        assert [tuple(row[key] for key in ("of", "name", "old", "new", "reason", "by")) for row in found] == rows
    for path in ("nodes/999/history", "gpus/999/history", "lanes/999/history"):
        assert pool_admin.get(f"/api/v1/{path}").status_code == 404


def test_a_long_history_comes_in_pages(pool_admin: APIClient, gpu_pool: list[int]) -> None:
    for number in range(5):
        body = {"action": "cordon", "reason": f"reason {number}", "gpus": gpu_pool[:1]}
        pool_admin.post("/api/v1/pool/actions", body, format="json")
    first = pool_admin.get(f"/api/v1/gpus/{gpu_pool[0]}/history", {"limit": 3}).json()
    second = pool_admin.get(first["next"]).json()
    reasons = [row["reason"] for page in (first, second) for row in page["results"]]
    assert (reasons, second["next"]) == ([f"reason {number}" for number in (4, 3, 2, 1, 0)], None)


def test_only_the_nodes_asked_for_are_listed(api: APIClient, gpu_pool: list[int]) -> None:
    first, second = Node.objects.values_list("pk", flat=True)
    assert [node["id"] for node in results(api, "nodes", ids=second)] == [second]
    assert [node["id"] for node in results(api, "nodes", ids=f"{first},{second},999")] == [first, second]
    for wrong in ("x", "1,", "-1", "9" * 30, "²"):
        assert api.get("/api/v1/nodes", {"ids": wrong}).status_code == 400


def test_the_pool_says_how_a_machine_joins_it(api: APIClient, gpu_pool: list[int]) -> None:
    facts = api.get("/api/v1/pool").json()
    assert facts["join_command"] == "python -m worker.node join 10.0.0.1:6379"
    assert facts["agent_reported_at"] <= facts["now"]
    assert APIClient().get("/api/v1/pool").status_code == 401


def test_before_any_report_the_command_has_a_placeholder(api: APIClient) -> None:
    facts = api.get("/api/v1/pool").json()
    assert (facts["head_address"], facts["agent_reported_at"]) == ("", None)
    assert facts["join_command"] == "python -m worker.node join HEAD:PORT"


def test_a_node_is_read_with_the_same_number_of_queries_whatever_it_has(
    api: APIClient, django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    ensure_local_lanes(num_cpu_lanes=40, gpu_indices=range(16))
    with django_assert_max_num_queries(12):
        results(api, "nodes")


def test_a_node_that_is_lost_for_good_is_removed_and_its_history_stays(
    pool_admin: APIClient, api: APIClient, run: Run
) -> None:
    post(alive("gpu0"), reports=(report(alive("gpu0"), card("GPU-a", 0)),))
    node = Node.objects.get(name="gpu0")
    refused = pool_admin.delete(f"/api/v1/nodes/{node.pk}")
    assert refused.status_code == 400 and "must be lost to be removed" in str(refused.json())
    Node.objects.filter(pk=node.pk).update(lost_since="2026-01-01T00:00Z")
    held = Lane.objects.filter(node=node, kind="gpu")
    StateChange.objects.create(node=node, name="gpu0", old="active", new="lost", by="node agent")
    assert api.delete(f"/api/v1/nodes/{node.pk}").status_code == 403
    assert Run.objects.get(pk=run.pk) and held.count() == 1
    assert pool_admin.delete(f"/api/v1/nodes/{node.pk}").status_code == 204
    assert not Node.objects.filter(name="gpu0").exists()
    assert not Gpu.objects.exists() and not held.exists()
    assert StateChange.objects.get(new="lost").name == "gpu0"
    assert Node.objects.get(name="local").lanes.count() == 4


def test_a_lost_node_with_a_held_lane_stays_until_the_lane_is_free(pool_admin: APIClient, run: Run) -> None:
    Node.objects.filter(name="local").update(lost_since="2026-01-01T00:00Z")
    refused = pool_admin.delete(f"/api/v1/nodes/{Node.objects.get(name='local').pk}")
    assert refused.status_code == 400 and "3 of its lanes are held" in str(refused.json())
