"""`fields=`: the answer has the fields that were asked for, and a name that it has not is refused."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

import api.openapi_document as openapi_documents
from accounts.models import Project, User
from api.chosen_fields import can_choose
from api.openapi_document import openapi_document
from runs.run_lines import OWN_COLUMNS
from tests.web.api.token_clients import with_token
from tests.web.conftest import MakeRun

pytestmark = pytest.mark.django_db
COMMITTED = Path(__file__).parents[3] / "frontend" / "openapi.json"


@pytest.fixture
def client(alice: User, project: Project) -> APIClient:
    return with_token(alice)


def test_rows_and_objects_have_the_chosen_fields_alone(client: APIClient, project: Project, make_run: MakeRun) -> None:
    run = make_run(project)
    make_run(project)
    page = client.get("/api/v1/runs", {"fields": "state, id", "limit": 1}).json()
    assert page.keys() == {"next", "results"}
    assert [row.keys() for row in page["results"]] == [{"id", "state"}]
    assert [row.keys() for row in client.get(page["next"]).json()["results"]] == [{"id", "state"}], "pages keep them"
    assert client.get(f"/api/v1/runs/{run.pk}", {"fields": "name"}).json() == {"name": run.name}


def test_of_runs_whose_columns_are_asked_for_nothing_else_is_read(
    client: APIClient, project: Project, make_run: MakeRun
) -> None:
    make_run(project, state="running", tags=["a"])
    make_run(project)
    whole = client.get("/api/v1/runs").json()["results"]
    chosen = client.get("/api/v1/runs", {"fields": ",".join(sorted(OWN_COLUMNS))}).json()["results"]
    assert chosen == [{name: row[name] for name in OWN_COLUMNS} for row in whole]
    with CaptureQueriesContext(connection) as captured:
        client.get("/api/v1/runs", {"fields": "id,state"})
    asked = [query["sql"] for query in captured if 'FROM "runs_run"' in query["sql"]]
    assert [sql.partition(" FROM ")[0].count('"runs_run".') for sql in asked] == [3], "with the time that pages go by"
    assert not any("JOIN" in sql.partition(" WHERE ")[0] for sql in asked)
    assert not any("fleet_" in query["sql"] for query in captured)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/api/v1/runs?fields=nam", "did you mean `name`"),
        ("/api/v1/prompt-sets?fields=id,", "`fields` has no ``: use some of id"),
        ("/api/v1/run-spec-schema?fields=type", "no fields of fixed names"),
        ("/api/v1/usage.csv?fields=id", "no fields of fixed names"),
    ],
)
def test_a_name_that_the_answer_has_not_is_refused_on_an_empty_page_too(
    client: APIClient, address: str, says: str
) -> None:
    refused = client.get(address)
    assert refused.status_code == 400
    assert says in refused.json()["errors"]["fields"][0]


def test_a_refusal_is_told_whole(client: APIClient) -> None:
    absent = client.get("/api/v1/runs/9b2f1c9e-0000-4000-8000-000000000000", {"fields": "name"})
    assert absent.status_code == 404
    assert absent.json()["detail"]


def test_writes_take_no_fields(client: APIClient) -> None:
    refused = client.post("/api/v1/runs:validate?fields=ok", {"spec": {}}, format="json")
    assert list(refused.json()["errors"]) == ["fields"]


def test_the_schema_offers_fields_where_answers_have_some() -> None:
    document = openapi_document()
    operations = [operations["get"] for operations in document["paths"].values() if "get" in operations]
    offered = {
        operation["operationId"]: any(one.get("name") == "fields" for one in operation.get("parameters", ()))
        for operation in operations
    }
    assert offered == {operation["operationId"]: can_choose(document, operation) for operation in operations}
    assert offered["runs_list"]
    assert not any(offered[name] for name in ("run_stream", "run_spec_schema_retrieve", "health_live_retrieve"))


def test_the_first_who_ask_at_once_get_one_document() -> None:
    openapi_documents._made.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        documents = list(threads.map(lambda _: openapi_document(), range(8)))
    assert all(document is documents[0] for document in documents)
    assert documents[0]["paths"].keys() == json.loads(COMMITTED.read_text())["paths"].keys()
