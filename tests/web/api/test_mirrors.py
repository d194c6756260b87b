"""Mirrors over REST: managed by owners, seen by members, their credentials by nobody."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.encryption import decrypt
from accounts.models import Project, User
from audit.models import AuditEntry
from catalog.models import Mirror
from mirrors.models import MirroredRun, MirroringState
from tests.web.conftest import MakeProject, MakeRun

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
ADDRESS = "/api/v1/mirrors"
KEY = "T0P-SECRET-key"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.TANDEM_VAR = tmp_path


def body(project: Project, **fields: Any) -> dict[str, Any]:
    return {"project": str(project.pk), "name": "wb", "kind": "wandb", "place": "team/shapes", **fields}


def folder(project: Project, **fields: Any) -> dict[str, Any]:
    return body(project, name="tb", kind="tensorboard", place="shapes", **fields)


def test_a_mirror_is_made_changed_and_deleted_and_its_credential_never_shown(api: APIClient, project: Project) -> None:
    made = api.post(ADDRESS, body(project, credential=KEY))
    assert (made.status_code, made.json()["address"]) == (201, "https://api.wandb.ai")
    one = f"{ADDRESS}/{made.json()['id']}"
    changed = api.patch(one, {"is_active": False, "is_for_every_run": False, "credential": f"{KEY}-2"})
    assert (changed.json()["is_active"], changed.json()["is_for_every_run"]) == (False, False)
    mirror = Mirror.objects.get()
    assert KEY not in mirror.encrypted
    assert decrypt(mirror.encrypted) == f"{KEY}-2"
    listed = api.get(ADDRESS, {"project": str(project.pk)})
    shown = [answer.content.decode() for answer in (made, changed, listed, api.get(one))]
    assert KEY not in "".join(shown)
    assert api.delete(one).status_code == 204
    noted = AuditEntry.objects.filter(object_type="mirror")
    assert {row.action for row in noted} == {"mirror.create", "mirror.change", "mirror.delete"}
    assert KEY not in str([row.changes for row in noted])


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"address": "http://wandb.example"}, "address", "TANDEM_MIRROR_HOSTS"),
        ({"address": "https://10.0.0.7/"}, "address", "private address"),
        ({"place": "../other"}, "place", "entity/project"),
        ({"kind": "tensorboard", "place": "../../etc"}, "place", "a folder's name"),
        ({"kind": "tensorboard", "place": ".ssh"}, "place", "a folder's name"),
        ({"kind": "tensorboard", "place": "runs", "address": "https://tb.example"}, "address", "must be empty"),
        ({"kind": "tensorboard", "place": "runs", "credential": "x"}, "credential", "must be empty"),
        ({"kind": "mlflow", "place": "Shapes"}, "address", "begin with https://"),
        ({"name": "My Mirror"}, "name", "a-z"),
    ],
)
def test_what_cannot_be_a_mirror_is_refused_by_field(
    api: APIClient, project: Project, fields: dict[str, Any], field: str, said: str
) -> None:
    refused = api.post(ADDRESS, body(project, **fields))
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    assert said in refused.json()["errors"][field][0]


def test_a_mirror_whose_package_is_missing_is_refused_with_how_to_install_it(
    api: APIClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalog.mirror_places.find_spec", lambda name: None)
    refused = api.post(ADDRESS, body(project))
    assert "mirrors.lock" in refused.json()["errors"]["kind"][0]


def test_two_mirrors_never_write_to_one_place(api: APIClient, project: Project) -> None:
    assert api.post(ADDRESS, folder(project)).status_code == 201
    assert api.post(ADDRESS, folder(project) | {"name": "other"}).status_code == 400


def test_owners_manage_mirrors_members_see_them_and_outsiders_nothing(
    client_of: ClientOf, api: APIClient, project: Project, bob: User, viewer: User, charlie: User
) -> None:
    assert client_of(bob).post(ADDRESS, folder(project)).status_code == 403
    assert client_of(charlie).post(ADDRESS, folder(project)).status_code == 404
    one = f"{ADDRESS}/{api.post(ADDRESS, folder(project)).json()['id']}"
    for user, seen, refused in ((bob, 200, 403), (viewer, 200, 403), (charlie, 404, 404)):
        client = client_of(user)
        assert len(client.get(ADDRESS).json()["results"]) == (seen == 200)
        assert client.get(one).status_code == seen
        answers = [client.patch(one, {"is_active": False}), client.delete(one), client.post(f"{one}/try-again")]
        assert [answer.status_code for answer in answers] == [refused] * 3
    assert Mirror.objects.get().is_active


def test_editors_have_a_run_mirrored_and_only_to_its_own_projects_mirrors(
    client_of: ClientOf,
    api: APIClient,
    project: Project,
    make_project: MakeProject,
    make_run: MakeRun,
    alice: User,
    bob: User,
    viewer: User,
    charlie: User,
) -> None:
    mirror = api.post(ADDRESS, folder(project)).json()["id"]
    elsewhere = api.post(ADDRESS, folder(make_project("Other", owner=alice))).json()["id"]
    run = make_run(project, state="completed", num_batches_done=2)
    address = f"/api/v1/runs/{run.pk}/mirrors"
    assert api.get(address).json() == []
    for user, expected in ((viewer, 403), (charlie, 404), (bob, 202)):
        assert client_of(user).post(address, {"mirror": mirror}).status_code == expected
    refused = api.post(address, {"mirror": elsewhere})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["mirror"])
    (row,) = client_of(viewer).get(address).json()
    assert (row["state"], row["batch"], row["num_batches_behind"]) == ("following", 0, 2)
    assert row["folder"].startswith(f"tensorboard/{project.slug}/shapes/run-")
    assert client_of(charlie).get(address).status_code == 404


def test_what_was_given_up_is_tried_again_at_once_and_from_the_beginning_where_asked(
    api: APIClient, project: Project, make_run: MakeRun
) -> None:
    mirror = api.post(ADDRESS, folder(project)).json()["id"]
    run = make_run(project, state="running")
    address = f"/api/v1/runs/{run.pk}/mirrors"
    api.post(address, {"mirror": mirror})
    failed = {"state": MirroringState.GIVEN_UP, "error": "401", "num_failures": 10, "next_at": None, "after_seq": 7}
    MirroredRun.objects.update(**failed)
    assert api.get(f"{ADDRESS}/{mirror}").json()["num_failing"] == 1
    assert api.post(f"{ADDRESS}/{mirror}/try-again").json() == {"num_runs": 1}
    row = MirroredRun.objects.get()
    assert (row.state, row.num_failures, row.after_seq) == ("following", 0, 7)
    api.post(address, {"mirror": mirror, "from_beginning": True})
    assert MirroredRun.objects.get().after_seq == 0
