"""The checks before a run is started: each looks, and says so where it cannot."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from math import ceil
from types import SimpleNamespace
from typing import Any

import pytest

from accounts.models import Project, User
from catalog.services import create_secret
from fleet.lane_layout import ensure_local_lanes
from fleet.models import BudgetPeriod, BudgetUnit, Node, ProjectShare
from fleet.services import allocate
from fleet.shares.spending import set_budget
from runs.models import Run
from runs.start_checks.check_rows import Check, CheckState
from runs.start_checks.sizes import size_text
from runs.start_checks.start_checks import StartChecks, start_checks
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.store_contents import store_contents
from worker.scheduling.planning.workload import Workload

pytestmark = pytest.mark.django_db
Looked = Callable[..., StartChecks]
FINE, WARNING, REFUSED, UNKNOWN = CheckState.FINE, CheckState.WARNING, CheckState.REFUSED, CheckState.UNKNOWN


@pytest.fixture
def look(make_spec: Callable[..., RunSpec], project: Project) -> Looked:
    def look(**sections: object) -> StartChecks:
        return start_checks({**make_spec().model_dump(mode="json"), **sections}, project)

    return look


def of(found: StartChecks, name: str) -> Check:
    return next(check for check in found.checks if check.name == name)


def test_a_run_that_would_start_now_says_so_and_leaves_nothing_behind(look: Looked) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    found = look()
    assert [check.name.value for check in found.checks] == [
        *(
            "spec",
            "model",
            "rewards",
            "prompts",
            "memory",
            "host_memory",
            "store",
            "embeddings",
            "disk",
            "project",
            "queue",
            "end",
        )
    ]
    assert of(found, "queue").state is FINE and found.starts is not None
    assert not Run.objects.exists()


def test_a_refused_spec_has_one_check_with_the_field_at_fault(look: Looked) -> None:
    (check,) = look(batch={"group_size": 1}).checks
    assert (check.state, check.path) == (REFUSED, "batch.group_size")
    assert "must be ≥ 2, got 1" in check.text


def test_a_run_waits_where_its_lanes_are_held(look: Looked, make_run: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    holder = make_run(state="running")
    allocate(holder=held_by(holder.pk, 1), wanted=holder.run_spec.granted_lanes)
    found = look()
    check = of(found, "queue")
    assert check.state is UNKNOWN and found.starts is None, "nothing was measured of the holder"
    assert "free now" in check.text
    assert of(found, "end").state is UNKNOWN


def test_the_forecast_counts_the_runs_ahead(look: Looked, make_run: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    make_run(state="queued")
    assert "behind 1 run, and nothing tells how long" in of(look(), "queue").text


def test_weights_on_another_node_are_unknown_until_a_run_has_trained_there(
    look: Looked, make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    assert of(look(), "model").state is FINE
    Node.objects.update(name="gpu7")
    check = of(look(), "model")
    assert check.state is UNKNOWN and "gpu7" in check.text
    run = make_run(state="running", num_batches_done=1)
    allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes)
    assert of(look(), "model").state is FINE


def test_prompts_that_repeat_or_are_held_out_and_trained_on_are_warned_of(look: Looked) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    texts = ["a red square", "a blue circle", "a green star"]
    assert of(look(prompts={"inline": texts}), "prompts").state is FINE
    both = of(look(prompts={"inline": texts}, evaluation={"prompts": texts[:1]}), "prompts")
    assert (both.state, both.path) == (WARNING, "evaluation.prompts")
    assert "`a red square`" in both.text
    repeats = [*texts, {"text": texts[0], "id": "again"}]
    assert "1 repeat" in of(look(prompts={"inline": repeats}), "prompts").text


def test_a_remote_scorer_is_unknown_and_its_secret_is_looked_up(look: Looked, project: Project, alice: User) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    remote = {"name": "remote", "settings": {"url": "https://scorer.example/score", "secret": "judge"}}
    assert look(rewards=[remote]).checks[0].path == "rewards.0.settings.secret"
    create_secret(user=alice, project=project, name="judge", host="scorer.example", value="s")
    check = of(look(rewards=[remote]), "rewards")
    assert check.state is UNKNOWN and "scorer.example with the secret `judge`" in check.text


def test_a_disk_without_room_for_checkpoints_is_warned_of(look: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    assert of(look(), "disk").state is FINE
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    assert of(look(), "disk").state is WARNING


def test_a_store_elsewhere_has_unknown_room(look: Looked, settings: Any) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    settings.TANDEM_CHECKPOINTS = "s3://bucket/checkpoints"
    check = of(look(), "disk")
    assert check.state is UNKNOWN and "at s3 " in check.text


def test_limits_and_budgets_of_the_project_are_counted(
    look: Looked, project: Project, admin: User, make_run: Callable[..., Run]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    assert of(look(), "project").state is FINE
    held = make_run(project=project, state="running")
    allocate(holder=replace(held_by(held.pk, 1), project_id=project.pk), wanted=held.run_spec.granted_lanes)
    wanted = held.run_spec.granted_lanes
    number = wanted.num_rollout + wanted.num_trainer + wanted.num_reward
    ProjectShare.objects.create(project=project, pool_id=DEFAULT_POOL, max_lanes=number)
    check = of(look(), "project")
    assert check.state is WARNING and f"holds {number}; this run asks for {number}" in check.text
    set_budget(user=admin, project=project, amount=Decimal(0), unit=BudgetUnit.GPU_HOURS, period=BudgetPeriod.WHOLE)
    assert "the run waits for a new one" in of(look(), "project").text


GB = 10**9


@pytest.mark.parametrize(
    ("store", "shared_memory", "disk", "state", "says"),
    [
        (100 * GB, 100 * GB, 100 * GB, FINE, "which holds 100 GB"),
        (100 * GB, 1000, 100 * GB, WARNING, "free in its shared memory"),
        (1000, 100 * GB, 100 * GB, WARNING, "would spill to its disk"),
        (1000, 100 * GB, 1000, WARNING, "so the run would fail"),
        (None, None, None, UNKNOWN, "no node of the pool default has reported"),
    ],
)
def test_the_object_store_is_judged_by_what_its_nodes_report(
    look: Looked, store: int | None, shared_memory: int | None, disk: int | None, state: CheckState, says: str
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    Node.objects.update(object_store_bytes=store, shm_free_bytes=shared_memory, spill_free_bytes=disk)
    check = of(look(), "store")
    assert (check.state, bool(check.remedy)) == (state, state is WARNING)
    assert says in check.text


def bytes_held(spec: RunSpec, num_lanes: int) -> int:
    return ceil(store_contents(spec, Workload.of(spec), num_lanes=num_lanes).total)


def test_the_object_store_holds_what_runs_at_work_keep_by_the_lanes_that_they_hold(
    look: Looked, make_run: Callable[..., Run]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    holder = make_run(state="running")
    spec = holder.run_spec
    own, beside = bytes_held(spec, 6), bytes_held(spec, 2)
    Node.objects.update(object_store_bytes=own + 1, shm_free_bytes=GB, spill_free_bytes=GB)
    assert of(look(), "store").state is FINE, "nobody is at work"
    allocate(holder=held_by(holder.pk, 1), wanted=spec.granted_lanes)
    check = of(look(), "store")
    assert check.state is WARNING and f"of which runs at work there hold {size_text(beside)}" in check.text
    assert f"{size_text(beside - 1)} would spill" in check.text and "wait for the end of runs at work" in check.remedy
    Node.objects.update(object_store_bytes=own + beside)
    assert of(look(), "store").state is FINE


def test_a_run_that_holds_fewer_lanes_than_it_asked_for_keeps_all_of_a_batch_on_them(
    look: Looked, make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    asked = make_spec(lanes={"num_rollout": 4, "num_trainer": 1})
    holder = make_run(state="running", spec=asked)
    allocate(holder=held_by(holder.pk, 1), wanted=make_spec().granted_lanes)
    Node.objects.update(object_store_bytes=GB, shm_free_bytes=GB, spill_free_bytes=GB)
    held = size_text(store_contents(asked, Workload.of(asked)).total)
    assert f"of which runs at work there hold {held}" in of(look(), "store").text


def test_for_each_lane_that_others_hold_and_the_run_is_to_get_they_hold_one_less(
    look: Looked, make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    """Four lanes, of which three train and generate for another run like this one."""
    ensure_local_lanes(num_cpu_lanes=4)
    sections = {"pipeline": {"placement": "colocated"}, "lanes": {"num_rollout": 1, "num_trainer": 2}}
    holder = make_run(state="running", spec=make_spec(**sections))
    spec = holder.run_spec
    allocate(holder=held_by(holder.pk, 1), wanted=spec.granted_lanes)
    shared = [bytes_held(spec, number) + bytes_held(spec, 4 - number) for number in (1, 2, 3)]
    most = max(bytes_held(spec, 3), *shared)
    assert most < 2 * bytes_held(spec, 3), "both with all of their lanes"
    for store, state in ((most, FINE), (most - 3, WARNING)):
        Node.objects.update(object_store_bytes=store, shm_free_bytes=GB, spill_free_bytes=GB)
        assert of(look(**sections), "store").state is state


MB = 10**6
FLUX = {"family": "flux", "path": "black-forest-labs/FLUX.1-dev", "dtype": "bf16"}


@pytest.mark.parametrize(
    ("room", "state", "says"),
    [
        (20 * MB, FINE, "local has room for 20 MB"),
        (12 * MB, WARNING, "local has room for 12 MB, so the run would fail while it starts"),
        (None, UNKNOWN, "no node of the pool default has reported how much room it has"),
    ],
)
def test_embeddings_are_judged_by_the_room_on_each_nodes_disk(
    look: Looked, room: int | None, state: CheckState, says: str
) -> None:
    """Four texts, the empty negative prompt among them, of 512 tokens of 4096 values in bf16: 4.2 MB each."""
    ensure_local_lanes(num_cpu_lanes=6)
    Node.objects.update(embeddings_room_bytes=room)
    check = of(look(base_model=FLUX, prompts={"inline": ["a", "b", "c"]}), "embeddings")
    assert "At most 16.8 MB of embeddings of 4 texts" in check.text and says in check.text
    assert (check.state, check.path) == (state, "prompts" if state is WARNING else "")
    assert ("Set `TANDEM_EMBEDDINGS_GIB` there to 1 or more" in check.remedy) is (state is WARNING)


FLUX2 = {"family": "flux2", "path": "black-forest-labs/FLUX.2-dev", "dtype": "bf16"}


@pytest.mark.parametrize(
    ("memory", "used", "state", "says"),
    [
        (64 * GB, GB, FINE, "the memory of gpu0 (48 GB of text encoders, where its CPU encodes new prompts of"),
        (64 * GB, 20 * GB, WARNING, "44 GB are free, so the system may end the run's processes"),
        (None, None, UNKNOWN, "48 GB of text encoders where a node's CPU encodes prompts; no node of the pool default"),
    ],
)
def test_text_encoders_are_judged_by_the_memory_of_each_node(
    look: Looked, memory: int | None, used: int | None, state: CheckState, says: str
) -> None:
    """Mistral-Small, 24 billion parameters in bf16, fits an H100: what comes later is encoded by one process."""
    post_node(alive("gpu0", num_cpu_lanes=2), *(card(f"GPU-{index}", index) for index in range(4)))
    Node.objects.update(memory_bytes=memory, memory_used_bytes=used)
    check = of(look(base_model=FLUX2), "host_memory")
    assert check.state is state and says in check.text
    assert ("samples of the run's own prompts alone" in check.remedy) is (state is WARNING)


def test_memory_that_others_use_is_not_asked_of_a_node_that_they_hold_whole(
    look: Looked, make_run: Callable[..., Run]
) -> None:
    post_node(alive("gpu0", num_cpu_lanes=2), *(card(f"GPU-{index}", index) for index in range(2)))
    holder = make_run(state="running")
    allocate(holder=held_by(holder.pk, 1), wanted=holder.run_spec.granted_lanes)
    Node.objects.update(memory_bytes=64 * GB, memory_used_bytes=60 * GB)
    check = of(look(base_model=FLUX2), "host_memory")
    assert check.state is FINE and "it has 64 GB" in check.text


def test_embeddings_of_runs_at_work_are_counted_unless_they_are_the_runs_own(
    look: Looked, make_run: Callable[..., Run]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    Node.objects.update(embeddings_room_bytes=20 * MB)
    holder = make_run(state="running")
    document = {**holder.spec, "base_model": {**holder.spec["base_model"], **FLUX}}
    Run.objects.update(spec=document, prompts=["a", "b", "c"])
    allocate(holder=held_by(holder.pk, 1), wanted=holder.run_spec.granted_lanes)
    same = look(base_model=FLUX, prompts={"inline": ["a", "b", "c"]})
    assert of(same, "embeddings").state is FINE
    others = of(look(base_model=FLUX, prompts={"inline": ["a", "x", "y"]}), "embeddings")
    assert others.state is WARNING and "of which runs at work there hold 8.4 MB" in others.text
