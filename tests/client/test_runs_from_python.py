"""Runs by `tandem.Client`: made, listed, read, controlled, waited for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Project, User
from runs.models import Run
from tandem import Conflict, Forbidden, Invalid, NotFound, RunFailed, TandemError, Unauthorized
from tandem.synchronous.client import Client
from tests.client.conftest import ADDRESS, OverWsgi
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
MakeSpec = Callable[..., RunSpec]


def test_a_run_is_made_from_a_document_from_text_and_from_a_file(
    client: Client, project: Project, make_spec: MakeSpec, tmp_path: Path
) -> None:
    spec = make_spec()
    (tmp_path / "spec.yaml").write_text(spec.to_yaml())
    document = client.runs.create(spec.model_dump(mode="json"), name="a", project="Shapes", tags=["demo"], notes="n")
    text = client.runs.create(spec.to_yaml(), name="b", project=project.slug)
    file = client.runs.create(tmp_path / "spec.yaml", name="c")
    assert document.spec == text.spec == file.spec == spec.model_dump(mode="json")
    assert (document.state, document.tags, document.notes, document.project.name) == ("queued", ["demo"], "n", "Shapes")


def test_a_refused_spec_says_every_error_by_field(client: Client, project: Project, make_spec: MakeSpec) -> None:
    spec = make_spec().model_dump(mode="json")
    spec["batch"]["group_size"] = 1
    spec["num_batches"] = 0
    with pytest.raises(Invalid) as refused:
        client.runs.create(spec, name="a")
    assert set(refused.value.errors) == {"spec.batch.group_size", "spec.num_batches"}
    assert str(refused.value).splitlines() == [
        "`batch.group_size` must be ≥ 2, got 1",
        "`num_batches` must be ≥ 1, got 0",
    ]
    assert refused.value.request_id
    assert not client.validate(spec).ok


def test_the_list_goes_over_all_pages(client: Client, project: Project, make_run: MakeRun) -> None:
    made = [str(make_run(project=project, name=f"r{number}").pk) for number in range(103)]
    listed = list(client.runs.list(project="Shapes"))
    assert [run.id for run in listed] == made[::-1]
    assert [run.name for run in client.runs.list(search="r77")] == ["r77"]
    assert list(client.runs.list(state="failed")) == []


def test_a_run_is_found_by_id_and_by_its_whole_name(client: Client, project: Project, make_run: MakeRun) -> None:
    made = make_run(project=project, name="wide")
    make_run(project=project, name="wide and long")
    assert client.runs.get("wide").id == client.runs.get(str(made.pk)).id == str(made.pk)
    with pytest.raises(NotFound, match="no run named 'wid'"):
        client.runs.get("wid")


def test_a_project_is_named_where_several_could_be_meant(
    client: Client, alice: User, make_project: Callable[..., Project], project: Project, make_spec: MakeSpec
) -> None:
    make_project("Wan", owner=alice)
    with pytest.raises(TandemError, match=r"name one by its slug: .*Shapes"):
        client.runs.create(make_spec().to_yaml(), name="a")
    with pytest.raises(NotFound, match="there is no project 'Elsewhere'"):
        client.runs.create(make_spec().to_yaml(), name="a", project="Elsewhere")


def test_actions_reach_the_run_and_impossible_ones_are_conflicts(
    client: Client, project: Project, make_run: MakeRun
) -> None:
    run = client.runs.get(str(make_run(project=project).pk))
    with pytest.raises(Conflict, match="queued"):
        run.pause()
    run.cancel()
    assert run.reload().state == "cancelled"


def test_waiting_ends_with_the_run_and_tells_a_failure(client: Client, project: Project, make_run: MakeRun) -> None:
    done = make_run(project=project, state="completed")
    assert client.runs.get(str(done.pk)).wait().state == "completed"
    failed = client.runs.get(str(make_run(project=project, state="failed").pk))
    with pytest.raises(RunFailed):
        failed.wait()
    assert failed.wait(check=False).has_ended
    queued = client.runs.get(str(make_run(project=project).pk))
    with pytest.raises(TimeoutError, match="is queued after 0"):
        queued.wait(timeout=0)


def test_each_refusal_has_its_class(
    client: Client, project: Project, viewer: User, token_of: Callable[..., str], make_run: MakeRun
) -> None:
    run = make_run(project=project)
    with Client(ADDRESS, "unknown", transport=OverWsgi()) as stranger, pytest.raises(Unauthorized):
        stranger.me()
    with Client(ADDRESS, token_of(viewer), transport=OverWsgi()) as reader, pytest.raises(Forbidden):
        reader.runs.get(str(run.pk)).cancel()
    with pytest.raises(NotFound):
        client.runs.get("9b2f1c9e-0000-4000-8000-000000000000")


def test_an_answer_with_fields_of_a_newer_server_is_read(client: Client, project: Project, make_run: MakeRun) -> None:
    run = client.runs.get(str(make_run(project=project).pk))
    newer: dict[str, Any] = {**run.model_dump(mode="json"), "state": "hibernating", "colour": "red"}
    read = type(run).model_validate(newer)
    assert (read.state, read.model_extra) == ("hibernating", {"colour": "red"})


def test_a_notebook_shows_a_run_with_its_name_as_text(client: Client, project: Project, make_run: MakeRun) -> None:
    made = make_run(project=project, name="<b>wide</b>")
    shown = client.runs.get(str(made.pk))._repr_html_()
    assert "&lt;b&gt;wide&lt;/b&gt;" in shown
    assert "of 2 batches" in shown
