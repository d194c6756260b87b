"""The OpenAPI schema and its page."""

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from rest_framework.test import APIClient

from accounts.models import User


def test_the_schema_is_made_without_warnings_and_is_valid_openapi(capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.reset()
    schema = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, capsys.readouterr().err
    validate_schema(schema)
    assert "/api/v1/runs:validate" in schema["paths"]


@pytest.mark.django_db
def test_the_docs_page_loads_nothing_from_elsewhere(alice: User) -> None:
    client = APIClient()
    client.force_authenticate(alice)
    page = client.get("/api/v1/docs").content.decode()
    assert "swagger" in page
    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page
    assert client.get("/api/v1/schema").status_code == 200
