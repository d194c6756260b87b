"""The names of a spec's settings by the path of their section, for guesses at what a misspelt one means."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from worker.contracts.run_spec import RunSpec


def setting_names(path: str) -> list[str]:
    """The names that the mapping at a dotted path may hold, those of all variants together; none for no mapping."""
    nodes = list(_resolved(_schema()))
    for name in filter(None, path.split(".")):
        inner = [
            node["items"] if name.isdigit() and "items" in node else node.get("properties", {}).get(name, {})
            for node in nodes
        ]
        nodes = [node for schema in inner for node in _resolved(schema)]
    return list(dict.fromkeys(name for node in nodes for name in node.get("properties", {})))


@cache
def _schema() -> dict[str, Any]:
    return RunSpec.model_json_schema()


def _resolved(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema itself, or what its references and alternatives stand for."""
    if "$ref" in schema:
        yield from _resolved(_schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    elif "anyOf" in schema or "oneOf" in schema:
        for one in schema.get("anyOf", schema.get("oneOf", ())):
            yield from _resolved(one)
    else:
        yield schema
