"""Holds what the web sends against its own schema: an answer that the schema does not describe fails the test."""

import re
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

REST = "/api/v1/"
"""What the schema describes."""
LEFT_OUT = ("/api/v1/asyncapi", "/api/v1/docs")
"""What it does not: descriptions."""
JSON_TYPES = ("application/json", "application/problem+json")


@cache
def schema() -> dict[str, Any]:
    """The OpenAPI document, as `manage.py spectacular` writes it."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


def check(content: Any, described: dict[str, Any]) -> None:
    """Raises `AssertionError` where plain JSON does not fit a part of the document."""
    document = {**described, "components": schema()["components"]}
    errors = [
        f"{'.'.join(map(str, error.absolute_path)) or 'the whole'}: {error.message}"
        for error in Draft202012Validator(document).iter_errors(content)
    ]
    assert not errors, "\n".join(errors)


def check_component(content: Any, name: str) -> None:
    """The same for a component of this name."""
    check(content, {"$ref": f"#/components/schemas/{name}"})


class CheckedClient(APIClient):
    """An API client that holds every JSON answer against what the schema says of its call."""

    def request(self, **kwargs: Any) -> Any:
        response = super().request(**kwargs)
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        if media_type in JSON_TYPES and response.resolver_match is not None:
            path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", response.resolver_match.route).replace("{pk}", "{id}")
            if path in LEFT_OUT or not path.startswith(REST):
                return response
            responses = schema()["paths"][path][kwargs["REQUEST_METHOD"].lower()]["responses"]
            described = responses.get(str(response.status_code)) or schema()["components"]["responses"]["Refusal"]
            check(response.json(), described["content"][media_type]["schema"])
        return response
