"""Holds what the web sends against its own schema: an answer that the schema does not describe fails the test."""

from typing import Any

from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from api.openapi_document import openapi_document, path_of

REST = "/api/v1/"
"""What the schema describes."""
LEFT_OUT = ("/api/v1/asyncapi", "/api/v1/docs")
"""What it does not: descriptions."""
JSON_TYPES = ("application/json", "application/problem+json")


def check(content: Any, described: dict[str, Any]) -> None:
    """Raises `AssertionError` where plain JSON does not fit a part of the document."""
    document = {**described, "components": openapi_document()["components"]}
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
            path = path_of(response.resolver_match.route)
            if path in LEFT_OUT or not path.startswith(REST):
                return response
            document = openapi_document()
            responses = document["paths"][path][kwargs["REQUEST_METHOD"].lower()]["responses"]
            described = responses.get(str(response.status_code)) or document["components"]["responses"]["Refusal"]
            check(response.json(), described["content"][media_type]["schema"])
        return response
