"""Which runs a lineage shows, in which order, and at what cost."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project, User
from gallery import lineage as subject
from gallery.lineage import lineage
from gallery.models import CheckpointRecord
from runs.models import Run

pytestmark = pytest.mark.django_db

Family = dict[str, Run]


@pytest.fixture
def family(make_run: Callable[..., Run], project: Project) -> Family:
    """oldest → parent → run → (fork → grandchild, copy), and a sibling that came from the parent too."""
    made: Family = {}

    def add(name: str, parent: str | None = None, **fields: object) -> None:
        made[name] = make_run(project=project, name=name, parent=made.get(parent or ""), **fields)

    add("oldest")
    add("parent", "oldest", headline={"reward_before": 0.1})
    add("run", "parent", headline={"reward_before": 0.1, "reward_after": 0.7, "batch_after": 20})
    add("copy", "run")
    add("fork", "run", forked_batch=10, forked_from="file:///c/10", headline={"reward_before": 0.4})
    add("grandchild", "fork")
    add("sibling", "parent")
    return made


def checkpoint(run: Run, batch: int) -> None:
    CheckpointRecord.objects.create(
        run=run,
        stream_seq=batch,
        attempt=1,
        batch=batch,
        policy_version=batch,
        optimizer_step=batch,
        num_bytes=1,
        at=1.0,
    )


def test_runs_are_shown_after_their_parents_and_the_latest_fork_first(family: Family, alice: User) -> None:
    found = lineage(alice, family["run"])
    assert found["is_whole"]
    assert [(run["name"], run["generation"]) for run in found["runs"]] == [
        ("oldest", -2),
        ("parent", -1),
        ("run", 0),
        ("fork", 1),
        ("grandchild", 2),
        ("copy", 1),
    ]
    parents = {run["name"]: run["parent"] for run in found["runs"]}
    assert parents["oldest"] is None
    assert parents["grandchild"] == str(family["fork"].pk)


def test_each_run_has_its_origin_its_checkpoints_and_its_newest_evaluation(family: Family, alice: User) -> None:
    for batch in (20, 10, 10):
        checkpoint(family["run"], batch)
    by_name = {run["name"]: run for run in lineage(alice, family["run"])["runs"]}
    assert by_name["run"]["checkpoints"] == [10, 20]
    assert (by_name["run"]["reward"], by_name["run"]["evaluated_batch"]) == (0.7, 20)
    assert by_name["fork"]["forked_batch"] == 10
    assert (by_name["fork"]["reward"], by_name["fork"]["evaluated_batch"]) == (0.4, 10)
    assert (by_name["parent"]["reward"], by_name["parent"]["evaluated_batch"]) == (0.1, 0)
    assert by_name["copy"]["reward"] is None


def test_runs_that_the_reader_may_not_see_end_their_branch(
    family: Family, make_run: Callable[..., Run], make_project: Callable[..., Project], alice: User
) -> None:
    hidden = make_run(project=make_project("Theirs"), parent=family["oldest"])
    Run.objects.filter(pk=family["parent"].pk).update(parent=hidden)
    Run.objects.filter(pk=family["fork"].pk).update(project=hidden.project)
    assert [run["name"] for run in lineage(alice, family["run"])["runs"]] == ["parent", "run", "copy"]


def test_a_long_lineage_is_cut_and_says_so(family: Family, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_RUNS", 4)
    found = lineage(alice, family["run"])
    assert ([run["name"] for run in found["runs"]], found["is_whole"]) == (["oldest", "parent", "run", "copy"], False)
    monkeypatch.setattr(subject, "MAX_RUNS", 60)
    monkeypatch.setattr(subject, "MAX_GENERATIONS", 1)
    found = lineage(alice, family["run"])
    assert ([run["name"] for run in found["runs"]], found["is_whole"]) == (["parent", "run", "fork", "copy"], False)


def test_the_newest_checkpoints_alone_are_dots(family: Family, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_CHECKPOINTS", 2)
    for batch in (1, 2, 3):
        checkpoint(family["copy"], batch)
    assert lineage(alice, family["copy"])["runs"][-1]["checkpoints"] == [2, 3]


def test_a_generation_costs_one_query(
    family: Family, alice: User, make_run: Callable[..., Run], project: Project
) -> None:
    with CaptureQueriesContext(connection) as of_six_runs:
        lineage(alice, family["run"])
    for _ in range(5):
        make_run(project=project, parent=family["run"])
    with CaptureQueriesContext(connection) as of_eleven_runs:
        lineage(alice, family["run"])
    assert len(of_eleven_runs) == len(of_six_runs)
