"""Each lane is in exactly one pool: the first whose labels it has, after whatever happens to labels and pools."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, LaneKind, LaneUse, Node, Pool
from fleet.pools.annotate import annotate
from fleet.pools.pool_membership import assign_pools, labels_of, moves, pool_for
from fleet.pools.pool_services import change_pool, create_pool
from fleet.selectors import all_lanes, free_lanes, pool_lanes
from fleet.services import LaneHolder, allocate, change_role, release
from fleet.shares.shares import held_lanes, used_lane_hours
from runs.pool.pool_removal import remove_pool
from tests.slow_params import examples
from tests.web.fleet.node_posts import alive, card, post, post_node
from tests.web.fleet.node_posts import report as report_of
from tests.web.lane_holders import held_by
from worker.contracts.lanes import DEFAULT_POOL, LaneSpec
from worker.contracts.names import LaneRole

NAMES, VALUES = ("rack", "model"), ("a", "b")
labels = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES))
some_labels = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), min_size=1)


def make_pool(name: str, order: int = 1, **match: str) -> Pool:
    pool = Pool.objects.create(name=name, order=order, match_labels=match)
    assign_pools()
    return pool


def pools_of_lanes() -> dict[str, str]:
    return dict(Lane.objects.values_list("label", "pool_id"))


def test_a_lane_has_its_nodes_labels_updated_by_its_gpu() -> None:
    assert labels_of({"rack": "a", "model": "x"}, []) == {"rack": "a", "model": "x"}
    assert labels_of({"rack": "a", "model": "x"}, [{"model": "y"}]) == {"rack": "a", "model": "y"}


def test_a_lane_of_several_gpus_has_the_labels_on_which_they_agree() -> None:
    assert labels_of({"rack": "a"}, [{"model": "x"}, {"model": "y"}]) == {"rack": "a"}
    assert labels_of({"rack": "a"}, [{"model": "x"}, {"rack": "a", "model": "x"}]) == {"rack": "a", "model": "x"}
    assert labels_of({}, [{"model": "x"}, {}]) == {}


@given(labels, st.lists(some_labels, max_size=4))
def test_the_first_pool_in_order_that_matches_has_the_lane(has: dict[str, str], wanted: list[dict[str, str]]) -> None:
    pools = [Pool(name=str(number), match_labels=match) for number, match in enumerate(wanted)]
    first = next((pool.name for pool in pools if all(has.get(k) == v for k, v in pool.match_labels.items())), "default")
    assert pool_for(has, [*pools, Pool(name=DEFAULT_POOL)]) == first


@pytest.mark.django_db
def test_lanes_follow_labels_and_new_ones_come_to_their_pool(admin: User) -> None:
    make_pool("fast", model="h100")
    make_pool("rack-a", order=2, rack="a")
    post_node(alive("n0"), card("GPU-0", 0), card("GPU-1", 1))
    assert set(pools_of_lanes().values()) == {DEFAULT_POOL}
    annotate(user=admin, on=Gpu.objects.get(uuid="GPU-1"), labels={"model": "h100"})
    annotate(user=admin, on=Node.objects.get(name="n0"), labels={"rack": "a"})
    assert pools_of_lanes() == {"n0/gpu-0": "rack-a", "n0/gpu-1": "fast", "n0/cpu-0": "rack-a", "n0/cpu-1": "rack-a"}
    post_node(alive("n0"), card("GPU-0", 0), card("GPU-1", 1), card("GPU-2", 2))
    assert pools_of_lanes()["n0/gpu-2"] == "rack-a"
    annotate(user=admin, on=Node.objects.get(name="n0"), labels={})
    assert (pool_lanes("fast"), pool_lanes("rack-a")) == ({"gpu": 1}, {})
    assert all_lanes() == {"gpu": 3, "cpu": 2}


@pytest.mark.django_db
def test_what_would_move_is_told_and_nothing_moves(admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=2)
    make_pool("fast", model="h100")
    node = Node.objects.get()
    told = moves(Lane.objects.all(), list(Pool.objects.all()), {node: {"model": "h100"}})
    assert [(move.lane, move.old, move.new) for move in told] == [
        ("local/cpu-0", DEFAULT_POOL, "fast"),
        ("local/cpu-1", DEFAULT_POOL, "fast"),
    ]
    assert set(pools_of_lanes().values()) == {DEFAULT_POOL}


@pytest.mark.django_db
def test_a_held_lane_moves_in_the_books_and_its_use_counts_where_it_was_allocated(admin: User, project: Any) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    run_id = uuid.uuid4()
    assert (
        allocate(holder=LaneHolder(run_id=run_id, attempt=1, project_id=project.pk, user_id=None), wanted=LaneSpec())
        is not None
    )
    make_pool("fast", model="h100")
    annotate(user=admin, on=Node.objects.get(), labels={"model": "h100"})
    assert Lane.objects.filter(run_id=run_id, pool="fast").count() == 3, "the run keeps its lanes"
    assert (all_lanes("fast"), all_lanes(DEFAULT_POOL), free_lanes("fast")) == ({"cpu": 3}, {}, {})
    assert held_lanes(DEFAULT_POOL, LaneKind.CPU) == {project.pk: 3}
    assert held_lanes("fast", LaneKind.CPU) == {}
    assert change_role(run_id=run_id, attempt=1, name="rollout-0", role=LaneRole.REWARD)
    assert held_lanes(DEFAULT_POOL, LaneKind.CPU) == {project.pk: 3}, "another role is the same allocation"
    release(run_id=run_id, attempt=1)
    assert (free_lanes("fast"), held_lanes(DEFAULT_POOL, LaneKind.CPU)) == ({"cpu": 3}, {})
    assert set(LaneUse.objects.values_list("pool", flat=True)) == {DEFAULT_POOL}
    end = LaneUse.objects.latest("until").until
    assert end is not None
    assert used_lane_hours("fast", LaneKind.CPU, end) == {}
    assert list(used_lane_hours(DEFAULT_POOL, LaneKind.CPU, end)) == [project.pk]


@pytest.mark.django_db
def test_a_gang_comes_from_one_pool_or_not_at_all(admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=4, node="n0")
    ensure_local_lanes(num_cpu_lanes=2, node="n1")
    make_pool("fast", model="h100")
    annotate(user=admin, on=Node.objects.get(name="n1"), labels={"model": "h100"})
    wanted = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1, pool="fast")
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=wanted) is None
    granted = allocate(holder=held_by(uuid.uuid4(), 1), wanted=wanted.model_copy(update={"pool": DEFAULT_POOL}))
    assert granted is not None and {lane.node for lane in granted} == {"n0"}


@pytest.mark.django_db
@pytest.mark.parametrize("fields", [{"name": "fast"}, {"name": "late", "order": 32_767, "match_labels": {"a": "b"}}])
def test_the_database_refuses_a_pool_that_would_match_as_the_default_does(fields: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Pool.objects.create(**fields)


def expected_pool(lane: Lane) -> str:
    """Worked out anew, label by label."""
    for pool in sorted(Pool.objects.exclude(pk=DEFAULT_POOL), key=lambda pool: (pool.order, pool.name)):
        each = [{**lane.node.labels, **gpu.labels} for gpu in lane.gpus.all()] or [lane.node.labels]
        if all(has.get(name) == value for has in each for name, value in pool.match_labels.items()):
            return pool.name
    return DEFAULT_POOL


class EachLaneIsInOnePool(TestCase):
    """A sequence of label changes, pool changes, new lanes and held lanes."""

    @settings(max_examples=examples(15, 40), deadline=None)
    @given(
        st.lists(
            st.one_of(
                st.tuples(st.just("node"), st.sampled_from(["n0", "n1"]), labels),
                st.tuples(st.just("gpu"), st.integers(0, 3), labels),
                st.tuples(st.just("pool"), st.sampled_from(["p", "q"]), st.tuples(some_labels, st.integers(0, 2))),
                st.tuples(st.just("no pool"), st.sampled_from(["p", "q"]), st.none()),
                st.tuples(st.just("report"), st.sampled_from(["n0", "n1"]), st.sets(st.integers(0, 3), max_size=3)),
                st.tuples(st.just("hold"), st.sampled_from(["p", "q", DEFAULT_POOL]), st.none()),
            ),
            max_size=8,
        )
    )
    def test_after_any_changes_each_lane_is_where_its_labels_say(self, steps: list[tuple[str, Any, Any]]) -> None:
        admin = User.objects.create_user("admin", is_pool_admin=True)
        for name in ("n0", "n1"):
            post_node(alive(name), card(f"GPU-{int(name[1]) * 2}", 0))
        for kind, what, value in steps:
            self.do(admin, kind, what, value)
            before = dict(Lane.objects.values_list("pk", "run_id"))
            for lane in Lane.objects.select_related("node").prefetch_related("gpus"):
                assert lane.pool_id == expected_pool(lane), (lane, kind, what, value)
            assert dict(Lane.objects.values_list("pk", "run_id")) == before
        by_pool = [dict(all_lanes(name)) for name in Pool.objects.values_list("pk", flat=True)]
        for lane_kind, number in all_lanes().items():
            assert sum(lanes.get(lane_kind, 0) for lanes in by_pool) == number

    def do(self, admin: User, kind: str, what: Any, value: Any) -> None:
        match kind:
            case "node":
                annotate(user=admin, on=Node.objects.get(name=what), labels=value)
            case "gpu":
                if gpu := Gpu.objects.filter(uuid=f"GPU-{what}").first():
                    annotate(user=admin, on=gpu, labels=value)
            case "pool":
                match_labels, order = value
                Pool.objects.update_or_create(name=what, defaults={"match_labels": match_labels, "order": order})
                assign_pools()
            case "no pool":
                Lane.objects.filter(pool=what).update(pool=DEFAULT_POOL)
                Pool.objects.filter(name=what).delete()
                assign_pools()
            case "report":
                post_node(alive(what), *(card(f"GPU-{number}", index) for index, number in enumerate(sorted(value))))
            case "hold":
                wanted = LaneSpec(num_rollout=0, num_trainer=1, num_reward=1, pool=what)
                allocate(holder=held_by(uuid.uuid4(), 1), wanted=wanted)


@pytest.mark.django_db(transaction=True)
def test_labels_pools_and_reports_at_once_leave_each_lane_where_its_labels_say(
    admin: User,
) -> None:
    """Each goes in its own connection, and none waits for another in a circle, which PostgreSQL would end."""
    post_node(alive("n0"), card("GPU-0", 0))
    errors: list[BaseException] = []

    def label() -> None:
        for number in range(12):
            annotate(user=admin, on=Node.objects.get(name="n0"), labels={"rack": VALUES[number % 2]})
            annotate(user=admin, on=Gpu.objects.get(uuid="GPU-0"), labels={"model": VALUES[number % 2]})

    def change() -> None:
        for number in range(12):
            create_pool(user=admin, name="p", match_labels={"rack": VALUES[number % 2]}, order=number)
            pool = Pool.objects.get(name="p")
            change_pool(user=admin, pool=pool, match_labels={"model": VALUES[number % 2]})
            if number < 11:
                remove_pool(user=admin, pool=pool)

    def report() -> None:
        for number in range(12):
            cards = (card(f"GPU-{index}", index) for index in range(number % 4 + 1))
            post(alive("n0"), alive(f"n{number + 1}"), reports=(report_of(alive("n0"), *cards),))

    def hold() -> None:
        for _ in range(12):
            run_id = uuid.uuid4()
            allocate(holder=held_by(run_id, 1), wanted=LaneSpec(num_rollout=0, num_trainer=1, num_reward=1))
            release(run_id=run_id, attempt=1)

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (label, change, report, hold)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert Lane.objects.count() == 13 * 2 + 4
    for lane in Lane.objects.select_related("node").prefetch_related("gpus"):
        assert lane.pool_id == expected_pool(lane), lane
