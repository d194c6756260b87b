"""The table of runs in any order and under groups, and actions on several runs at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from audit.models import AuditEntry
from runs.models import Run

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
MakeRun = Callable[..., Run]


def table(client: APIClient, **query: Any) -> dict[str, Any]:
    answer = client.get("/api/v1/runs:table", query)
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def names(client: APIClient, **query: Any) -> list[str]:
    return [run["name"] for run in table(client, **query)["results"]]


@pytest.fixture
def three(make_run: MakeRun, project: Project, alice: User, bob: User) -> list[Run]:
    """Oldest first: `Bee`, the best; `ant`, half done; `cat`, never evaluated."""
    now = timezone.now()

    def made(name: str, age: int, took: int, done: int, **fields: Any) -> Run:
        times = {"created_at": now - timedelta(hours=age), "started_at": now - timedelta(hours=age)}
        ended = times["started_at"] + timedelta(minutes=took)
        return make_run(
            project=project, name=name, state="completed", num_batches_done=done, **times, ended_at=ended, **fields
        )

    return [
        made("Bee", 3, 20, 2, created_by=alice, tags=["red", "night"], headline={"reward_after": 0.9}),
        made("ant", 2, 30, 1, created_by=bob, tags=["red"], headline={"reward_after": 0.25}),
        made("cat", 1, 10, 0, created_by=bob),
    ]


def test_the_table_is_ordered_by_any_column_and_rows_without_a_value_come_last(
    api: APIClient, three: list[Run]
) -> None:
    assert names(api) == ["cat", "ant", "Bee"]
    assert names(api, order="name", descending="false") == ["ant", "Bee", "cat"]
    assert names(api, order="reward") == ["Bee", "ant", "cat"]
    assert names(api, order="reward", descending="false") == ["ant", "Bee", "cat"]
    assert names(api, order="progress") == ["Bee", "ant", "cat"]
    assert names(api, order="duration") == ["ant", "Bee", "cat"]
    assert api.get("/api/v1/runs:table", {"order": "luck"}).status_code == 400


def test_a_stretch_of_the_table_comes_with_the_number_of_all_rows(api: APIClient, three: list[Run]) -> None:
    found = table(api, offset=1, limit=1)
    assert ([run["name"] for run in found["results"]], found["number"], found["groups"]) == (["ant"], 3, [])
    assert table(api, offset=9)["results"] == []


def test_a_run_of_two_tags_stands_in_the_group_of_each(api: APIClient, three: list[Run]) -> None:
    found = table(api, group="tag")
    assert [(one["value"], one["number"]) for one in found["groups"]] == [("", 1), ("night", 1), ("red", 2)]
    assert found["number"] == 3, "there are three runs, in four rows"
    assert [run["name"] for run in found["results"]] == ["cat", "Bee", "ant", "Bee"]
    assert names(api, group="tag", offset=2) == ["ant", "Bee"], "a stretch may begin within a group"


def test_runs_are_grouped_by_who_created_them(api: APIClient, three: list[Run], make_run: MakeRun) -> None:
    make_run(project=three[0].project, name="orphan", created_by=None)
    found = table(api, group="user")
    assert [(one["value"], one["number"]) for one in found["groups"]] == [("", 1), ("alice", 1), ("bob", 2)]
    assert [run["name"] for run in found["results"]] == ["orphan", "Bee", "cat", "ant"]


def test_several_states_mine_and_the_last_days_can_be_listed(
    api: APIClient, three: list[Run], make_run: MakeRun, project: Project
) -> None:
    make_run(project=project, name="works", state="running", attempt=1)
    make_run(project=project, name="long ago", state="failed", ended_at=timezone.now() - timedelta(days=30))
    assert set(names(api, state="running,failed")) == {"works", "long ago"}
    assert names(api, state="failed", ended_days=7) == []
    assert names(api, mine="true", state="completed") == ["Bee"]
    refused = api.get("/api/v1/runs:table", {"state": "running,sleeping"})
    assert refused.status_code == 400
    assert "got `sleeping`" in refused.json()["errors"]["state"][0]


def test_nobody_sees_rows_or_counts_of_others(client_of: ClientOf, three: list[Run], charlie: User) -> None:
    assert table(client_of(charlie), group="tag") == {"number": 0, "groups": [], "results": []}


def test_the_table_costs_as_many_queries_for_many_as_for_few(
    api: APIClient, make_run: MakeRun, project: Project, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        make_run(project=project, state="completed", tags=[f"t{number}"])
    with django_assert_max_num_queries(8):
        table(api, group="tag", order="reward")


def test_a_bulk_action_does_what_it_can_and_says_what_was_refused_and_why(
    api: APIClient, make_run: MakeRun, project: Project
) -> None:
    waiting = make_run(project=project, state="queued")
    ended = make_run(project=project, name="over", state="completed")
    hidden = make_run()
    ids = [str(run.pk) for run in (waiting, ended, hidden)]
    answer = api.post("/api/v1/runs:bulk", {"ids": ids, "action": "cancel"}).json()
    assert answer["done"] == [str(waiting.pk)]
    (refusal,) = answer["refused"]
    assert (refusal["id"], refusal["name"]) == (str(ended.pk), "over")
    assert "not possible while the run is completed" in refusal["reason"]
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"


def test_a_bulk_action_on_all_or_none_does_nothing_where_one_run_refuses(
    api: APIClient, make_run: MakeRun, project: Project
) -> None:
    waiting, ended = (
        make_run(project=project, state="queued"),
        make_run(project=project, name="over", state="completed"),
    )
    hidden = make_run()

    def cancel(*runs: Run) -> Any:
        body = {"ids": [str(run.pk) for run in runs], "action": "cancel", "all_or_none": True}
        return api.post("/api/v1/runs:bulk", body)

    for other, name in ((ended, "over"), (hidden, "")):
        refused = cancel(waiting, other)
        assert refused.status_code == 409
        assert [(row["id"], row["name"]) for row in refused.json()["refused"]] == [(str(other.pk), name)]
        waiting.refresh_from_db()
        assert waiting.state == "queued"
    assert not AuditEntry.objects.filter(action__startswith="run.").exists()
    assert cancel(waiting).json() == {"done": [str(waiting.pk)], "refused": []}


def test_tags_are_added_to_and_removed_from_several_runs(api: APIClient, make_run: MakeRun, project: Project) -> None:
    runs = [make_run(project=project, tags=tags) for tags in (["a"], ["b"])]
    ids = [str(run.pk) for run in runs]

    def tags_after(**body: Any) -> list[list[str]]:
        assert api.post("/api/v1/runs:bulk", {"ids": ids, **body}).json()["refused"] == []
        for run in runs:
            run.refresh_from_db()
        return [run.tags for run in runs]

    assert tags_after(action="tag", tag="b") == [["a", "b"], ["b"]]
    assert tags_after(action="untag", tag="b") == [["a"], []]
    refused = api.post("/api/v1/runs:bulk", {"ids": ids, "action": "tag"})
    assert list(refused.json()["errors"]) == ["tag"]


def test_a_viewer_changes_nothing_in_bulk(
    client_of: ClientOf, make_run: MakeRun, project: Project, viewer: User
) -> None:
    run = make_run(project=project, state="completed")
    answer = client_of(viewer).post("/api/v1/runs:bulk", {"ids": [str(run.pk)], "action": "archive"}).json()
    assert answer["done"] == []
    assert "needs the role editor" in answer["refused"][0]["reason"]


def test_groups_have_sums_over_their_runs(
    api: APIClient, three: list[Run], make_run: MakeRun, project: Project
) -> None:
    make_run(project=project, name="now", state="running", num_batches_done=1)
    (group,) = table(api, group="project")["groups"]
    assert group == {
        "value": "Shapes",
        "number": 4,
        "num_live": 1,
        "num_failed": 0,
        "num_batches_done": 4,
        "best_reward": 0.9,
        "mean_reward": pytest.approx((0.9 + 0.25) / 2),
    }
    assert [(one["value"], one["number"]) for one in table(api, group="algorithm")["groups"]] == [("flow_grpo", 4)]
    assert [(one["value"], one["number"]) for one in table(api, group="model")["groups"]] == [("shapes", 4)]
    assert [one["value"] for one in table(api, group="preset")["groups"]] == [""]


def test_a_stretch_within_a_group_is_the_same_as_one_that_begins_before_it(api: APIClient, three: list[Run]) -> None:
    whole = names(api, group="tag", order="name", descending="false")
    assert whole == ["cat", "Bee", "ant", "Bee"]
    assert [names(api, group="tag", order="name", descending="false", offset=at, limit=1) for at in range(4)] == [
        [name] for name in whole
    ]
