"""The OpenAPI schema, its page, and the contracts in it."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from rest_framework.test import APIClient

from accounts.models import User
from api.contract_schema import add_contracts, same_choices
from api.openapi_document import openapi_document
from telemetry.stream_items import EVENT_KINDS, ITEM_TYPES
from tests.web.contract import check_component
from worker.contracts.events import run_event_adapter
from worker.contracts.metric_names import Metric
from worker.contracts.run_spec import RunSpec
from worker.contracts.spans import Span
from worker.contracts.states import END_STATES

COMMITTED = Path(__file__).resolve().parents[3] / "frontend" / "openapi.json"


def components() -> dict[str, Any]:
    found: dict[str, Any] = openapi_document()["components"]["schemas"]
    return found


def test_the_schema_is_made_without_warnings_and_is_valid_openapi(capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.reset()
    made = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, capsys.readouterr().err
    validate_schema(made)
    assert made["openapi"].startswith("3.1")
    assert "/api/v1/runs:validate" in made["paths"]


def test_the_committed_schema_is_the_one_that_the_code_makes(tmp_path: Path) -> None:
    written = tmp_path / "openapi.json"
    call_command("spectacular", "--format", "openapi-json", "--file", str(written))
    assert COMMITTED.read_text() == written.read_text(), "write it anew: make contract"


@pytest.mark.django_db
def test_the_docs_page_loads_nothing_from_elsewhere(alice: User) -> None:
    client = APIClient()
    client.force_authenticate(alice)
    page = client.get("/api/v1/docs").content.decode()
    assert "swagger" in page
    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page
    assert client.get("/api/v1/schema").status_code == 200


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(openapi_document())
    assert text.count("$defs") == 0
    references = {part.split('"')[0] for part in text.split('"$ref": "#/components/schemas/')[1:]}
    assert references <= components().keys()


def test_events_are_told_apart_by_their_type() -> None:
    union = components()["RunEvent"]
    assert union["discriminator"]["propertyName"] == "type"
    assert len(union["oneOf"]) == len(EVENT_KINDS)
    for name in union["discriminator"]["mapping"].values():
        assert "const" in components()[name.rpartition("/")[2]]["properties"]["type"]


def test_a_stream_item_holds_the_fields_of_its_event() -> None:
    union = components()["StreamItem"]
    assert union["discriminator"]["mapping"].keys() == ITEM_TYPES
    body = components()["MetricsItem"]["properties"]["body"]["$ref"].rpartition("/")[2]
    assert set(components()[body]["properties"]) == {"batch", "optimizer_step", "values"}


def test_a_span_has_one_form_for_driver_socket_and_timeline() -> None:
    span, drawn = components()["Span"], components()["TimelineSpan"]
    assert list(span["properties"]) == list(Span.model_fields)
    assert {name: drawn["properties"][name] for name in span["properties"]} == span["properties"]
    assert set(drawn["properties"]) - set(span["properties"]) == {"num_spans"}


def test_what_is_sent_is_never_absent_for_having_a_default() -> None:
    for name in ("Span", "RunSpec", "RewardSpec", "LaneInfo", "Sample", "Token", "TimelineSpan"):
        assert set(components()[name]["required"]) == set(components()[name]["properties"]), name


def test_an_event_that_a_driver_sends_fits_its_component() -> None:
    event = {"seq": 1, "at": 1.0, "type": "metrics", "batch": 1, "optimizer_step": 4, "values": {"reward/mean": 0.5}}
    sent = run_event_adapter.validate_python(event).model_dump(mode="json")
    check_component(sent, "RunEvent")
    with pytest.raises(AssertionError, match="values"):
        check_component({**sent, "values": {"reward/mean": "much"}}, "RunEvent")


def test_names_and_choices_of_the_contracts_are_there() -> None:
    assert components()["Metric"]["enum"] == [metric.value for metric in Metric]
    assert set(components()["EndState"]["enum"]) == END_STATES


def test_the_form_reads_the_same_spec_as_every_other_reader() -> None:
    """The form asks for a document of its own; it differs from the component in what is required, and in nothing."""
    document = RunSpec.model_json_schema()
    for name, definition in {**document["$defs"], "RunSpec": document}.items():
        fields = {key: _plain(field) for key, field in definition.get("properties", {}).items()}
        assert {key: _plain(field) for key, field in components()[name].get("properties", {}).items()} == fields, name
    assert components()["RunSpec"]["inapplicable"] == document["inapplicable"]


def _plain(value: Any) -> Any:
    """A part of a JSON schema without titles, and with references by their last part."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key != "title"}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.rpartition("/")[2] if isinstance(value, str) and value.startswith("#/") else value


def test_one_name_never_has_two_meanings() -> None:
    taken = {"components": {"schemas": {"Span": {"type": "object", "properties": {}}}}, "paths": {}}
    with pytest.raises(ValueError, match="`Span` is defined differently"):
        add_contracts(taken, None, None, True)
    assert same_choices({"enum": ["a", "b"]}, {"enum": ["b", "a"]})
    assert not same_choices({"enum": ["a"]}, {"enum": ["a", "b"]})


def test_every_refusal_is_a_problem() -> None:
    for operations in openapi_document()["paths"].values():
        for operation in operations.values():
            assert operation["responses"]["default"] == {"$ref": "#/components/responses/Refusal"}
    check_component({"type": "about:blank", "title": "Conflict", "status": 409, "detail": "…", "state": "x"}, "Problem")


def test_typed_dictionaries_are_checked_as_strictly_as_contracts() -> None:
    with pytest.raises(AssertionError, match="stream_seq"):
        check_component({"kind": "hello", "now": 1.0}, "HelloFrame")
