"""The schema of REST v1 as plain data, for those that look something up in it."""

import re
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

Schema = dict[str, Any]
CONVERTED = re.compile(r"<(?:\w+:)?(\w+)>")


_one_at_a_time = threading.Lock()


def openapi_document() -> Schema:
    """The whole document. Made once in a process, since it takes a second; not to be changed."""
    # The generator keeps what it finds in globals: two at once would mix theirs.
    with _one_at_a_time:
        return _made()


@cache
def _made() -> Schema:
    # It loads the module of views, which loads this module with DRF's settings.
    from drf_spectacular.generators import SchemaGenerator

    made: Schema = SchemaGenerator().get_schema(public=True)
    return made


def path_of(route: str) -> str:
    """The path of the document for a route of Django's: `runs/<uuid:pk>` is `/runs/{id}` there."""
    return "/" + CONVERTED.sub(r"{\1}", route).replace("{pk}", "{id}")


def answer_fields(document: Schema, operation: Schema) -> tuple[str, ...]:
    """The names of the fields that an operation answers with, or of each row where it answers with rows; none where the
    answer is no JSON, or has other names each time."""
    content = operation["responses"].get("200", {}).get("content", {})
    if "application/json" not in content:
        return ()
    answer = dict.fromkeys(_fields(document, content["application/json"]["schema"]))
    if "results" in answer and "next" in answer:
        rows = _property(document, content["application/json"]["schema"], "results")
        answer = dict.fromkeys(_fields(document, rows))
    return tuple(answer)


def _fields(document: Schema, schema: Schema) -> Iterator[str]:
    for part in _parts(document, schema):
        if part.get("type") == "array":
            yield from _fields(document, part["items"])
        yield from part.get("properties", ())


def _property(document: Schema, schema: Schema, name: str) -> Schema:
    return next(part["properties"][name] for part in _parts(document, schema) if name in part.get("properties", ()))


def _parts(document: Schema, schema: Schema) -> Iterator[Schema]:
    """The schema itself, behind references, and each of those that it is made of."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    yield schema
    for part in (part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, ())):
        yield from _parts(document, part)
