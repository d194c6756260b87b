import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.access import NotVisible
from accounts.models import Project, User
from catalog.services import create_prompt_set, delete_prompt_set
from runs import services
from runs.models import Run, RunTransition
from runs.selectors import attempts_of, commands_of, get_run, run_body_for, transitions, visible_runs
from runs.transitions import RunStateConflict
from worker.contracts.prompts import dump_prompts
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import END_STATES, RunState


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...]]]:
    """Tasks sent to the broker, by name."""
    sent: list[tuple[str, tuple[Any, ...]]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args=(), **_: sent.append((name, tuple(args))))
    return sent


def test_a_created_run_is_queued_with_its_algebra_and_its_history(
    project: Project,
    bob: User,
    make_spec: Callable[..., RunSpec],
    enqueued: list[tuple[str, tuple[Any, ...]]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = services.create_run(user=bob, project=project, name=" first ", spec=make_spec(), tags=["a", " a ", "b"])
    run = Run.objects.get(pk=run.pk)
    assert (run.name, run.state, run.created_by, run.tags) == ("first", "queued", bob, ["a", "b"])
    assert run.run_spec == make_spec()
    assert run.batch_algebra.num_trajectories == 4
    assert run.prompts == dump_prompts(make_spec().prompts.inline)
    assert [(row.old, row.new, row.actor) for row in RunTransition.objects.filter(run=run)] == [("", "queued", "bob")]
    assert enqueued == [("tandem.runs.dispatch", ())]


def test_yaml_and_mappings_are_specs_too(project: Project, bob: User, make_spec: Callable[..., RunSpec]) -> None:
    by_yaml = services.create_run(user=bob, project=project, name="y", spec=make_spec().to_yaml())
    by_mapping = services.create_run(user=bob, project=project, name="m", spec=make_spec().model_dump(mode="json"))
    assert by_yaml.spec == by_mapping.spec


def test_only_editors_create_runs(
    project: Project, viewer: User, charlie: User, make_spec: Callable[..., RunSpec]
) -> None:
    with pytest.raises(PermissionDenied):
        services.create_run(user=viewer, project=project, name="x", spec=make_spec())
    with pytest.raises(NotVisible):
        services.create_run(user=charlie, project=project, name="x", spec=make_spec())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"tags": ["t" * 41]}, "tags"),
        ({"tags": [str(n) for n in range(21)]}, "tags"),
        ({"notes": "n" * 20_001}, "notes"),
        ({"spec": "- a list"}, "spec"),
        ({"spec": {}}, "spec.prompts"),
    ],
)
def test_what_is_wrong_is_named_by_field(
    project: Project, bob: User, make_spec: Callable[..., RunSpec], changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        services.create_run(**{"user": bob, "project": project, "name": "x", "spec": make_spec(), **changes})
    assert field in caught.value.message_dict
    assert not Run.objects.exists()


def test_a_run_keeps_its_prompts_when_their_set_is_deleted(
    project: Project, bob: User, make_spec: Callable[..., RunSpec]
) -> None:
    prompt_set = create_prompt_set(user=bob, project=project, name="Two", prompts=["one", "two"])
    spec = make_spec(prompts={"prompt_set": str(prompt_set.pk)})
    run = services.create_run(user=bob, project=project, name="x", spec=spec)
    delete_prompt_set(user=bob, prompt_set=prompt_set)
    assert Run.objects.get(pk=run.pk).prompts == ["one", "two"]


def test_duplicating_names_the_parent_and_may_edit_the_spec(
    project: Project, bob: User, make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    run = make_run(project, name="demo", tags=["t"])
    copy = services.duplicate_run(user=bob, run=run)
    assert (copy.name, copy.parent, copy.spec, copy.tags, copy.state) == ("demo 2", run, run.spec, ["t"], "queued")
    again = services.duplicate_run(user=bob, run=copy, spec=make_spec(num_batches=7))
    assert (again.name, again.num_batches) == ("demo 3", 7)


def test_duplicates_of_long_names_fit(project: Project, bob: User, make_run: Callable[..., Run]) -> None:
    copy = services.duplicate_run(user=bob, run=make_run(project, name="x" * 120))
    assert len(copy.name) <= 120


def test_notes_tags_and_name_are_edited_apart(project: Project, bob: User, make_run: Callable[..., Run]) -> None:
    run = make_run(project, tags=["old"])
    services.set_notes_and_tags(user=bob, run=run, notes="seen")
    services.rename_run(user=bob, run=run, name=" better ")
    run.refresh_from_db()
    assert (run.notes, run.tags, run.name) == ("seen", ["old"], "better")
    services.set_notes_and_tags(user=bob, run=run, tags=[])
    assert Run.objects.get(pk=run.pk).tags == []
    with pytest.raises(ValidationError, match="must have 1 to 120 characters"):
        services.rename_run(user=bob, run=run, name=" ")


@pytest.mark.parametrize("state", list(RunState))
def test_only_ended_runs_are_archived_or_deleted(
    project: Project, bob: User, make_run: Callable[..., Run], state: RunState
) -> None:
    run = make_run(project, state=state.value)
    if state in END_STATES:
        assert services.archive_run(user=bob, run=run).archived_at is not None
        assert services.unarchive_run(user=bob, run=run).archived_at is None
        services.delete_run(user=bob, run=run)
        assert not Run.objects.filter(pk=run.pk).exists()
    else:
        for act in (services.archive_run, services.delete_run):
            with pytest.raises(RunStateConflict, match=f"not possible while the run is {state}"):
                act(user=bob, run=run)
        assert Run.objects.filter(pk=run.pk, archived_at=None).exists()


def test_a_deleted_runs_files_go_after_the_commit(
    project: Project,
    bob: User,
    make_run: Callable[..., Run],
    enqueued: list[tuple[str, tuple[Any, ...]]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    run = make_run(project, state="failed")
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_run(user=bob, run=run)
        assert enqueued == []
    assert enqueued == [
        ("tandem.runs.delete_checkpoints", (str(run.pk),)),
        ("tandem.gallery.delete_artifacts", (str(run.pk),)),
    ]


def test_viewers_look_and_touch_nothing(project: Project, viewer: User, make_run: Callable[..., Run]) -> None:
    run = make_run(project, state="completed")
    assert get_run(viewer, run.pk) == run
    for act in (
        lambda: services.set_notes_and_tags(user=viewer, run=run, notes="x"),
        lambda: services.rename_run(user=viewer, run=run, name="x"),
        lambda: services.archive_run(user=viewer, run=run),
        lambda: services.unarchive_run(user=viewer, run=run),
        lambda: services.duplicate_run(user=viewer, run=run),
        lambda: services.delete_run(user=viewer, run=run),
    ):
        with pytest.raises(PermissionDenied):
            act()


def test_outsiders_see_no_run_at_all(project: Project, charlie: User, make_run: Callable[..., Run]) -> None:
    run = make_run(project)
    assert list(visible_runs(charlie)) == []
    for read in (
        lambda: get_run(charlie, run.pk),
        lambda: get_run(charlie, "no-uuid"),
        lambda: transitions(charlie, run),
        lambda: attempts_of(charlie, run),
        lambda: commands_of(charlie, run),
    ):
        with pytest.raises(NotVisible):
            read()


def test_the_body_of_a_run_is_plain_json_with_the_readers_role(
    project: Project, viewer: User, make_run: Callable[..., Run]
) -> None:
    run = make_run(project, created_by=viewer)
    body = run_body_for(viewer, get_run(viewer, run.pk))
    assert json.loads(json.dumps(body)) == body
    assert body["project"]["role"] == "viewer"
    assert body["legal_actions"] == ["cancel"]
    assert body["algebra_text"].startswith("2 prompts × 2 = 4 trajectories a batch")


def test_a_list_of_runs_never_reads_their_prompts(
    project: Project,
    viewer: User,
    make_run: Callable[..., Run],
    django_assert_num_queries: Any,
) -> None:
    make_run(project, state="completed")
    make_run(project, state="completed")
    with django_assert_num_queries(1):
        runs = list(visible_runs(viewer))
        assert [run.num_prompts for run in runs] == [3, 3]
