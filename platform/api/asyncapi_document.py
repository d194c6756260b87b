"""The websockets as an AsyncAPI 3.0 document. Frames are the components of the OpenAPI document: one description."""

import json
import re
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from typing import Any

from django.conf import settings

from api.openapi_document import CONVERTED, Schema, openapi_document
from telemetry.sockets.consumers import BAD_REQUEST, NOT_VISIBLE, ProjectsConsumer, RefreshingConsumer, RunConsumer
from telemetry.sockets.pool_consumer import PoolConsumer
from telemetry.sockets.routing import websocket_urlpatterns

FRAMES: dict[type[RefreshingConsumer], str] = {
    RunConsumer: "RunFrame",
    ProjectsConsumer: "ProjectsFrame",
    PoolConsumer: "PoolFrame",
}
"""The component that describes what a socket sends."""
DESCRIPTION = (
    "Sockets only send. A session's cookie or the parameter `token` says who listens; what the user may not see is "
    f"closed with {NOT_VISIBLE}, parameters that mean nothing with {BAD_REQUEST}. Heartbeats come in silence, too. A "
    "client that reads slowly is sent what it has missed from the database, or a snapshot: nothing piles up for it."
)
TOKEN: Schema = {"type": "string", "description": "An API token, where there is no session."}
AFTER_SEQ: Schema = {
    "type": "integer",
    "minimum": 0,
    "description": "Items above this number are sent; without it, or too far behind, first a snapshot.",
}
_REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')


@cache
def asyncapi_document() -> Schema:
    """The whole document. Not to be changed."""
    channels = {consumer.__name__.removesuffix("Consumer"): (route, consumer) for route, consumer in _routes()}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Tandem",
            "version": settings.SPECTACULAR_SETTINGS["VERSION"],
            "description": DESCRIPTION,
        },
        "defaultContentType": "application/json",
        "channels": {name: _channel(route, consumer) for name, (route, consumer) in channels.items()},
        "operations": {
            f"send{name}": {"action": "send", "channel": {"$ref": f"#/channels/{name}"}} for name in channels
        },
        "components": {"schemas": _reached({FRAMES[consumer] for _, consumer in channels.values()})},
    }


def _routes() -> Iterator[tuple[str, type[RefreshingConsumer]]]:
    for entry in websocket_urlpatterns:
        consumer: Any = entry.callback
        yield str(entry.pattern), consumer.consumer_class


def _channel(route: str, consumer: type[RefreshingConsumer]) -> Schema:
    parameters = {"token": TOKEN} | ({"after_seq": AFTER_SEQ} if consumer is RunConsumer else {})
    frame = FRAMES[consumer]
    return {
        "address": "/" + CONVERTED.sub(r"{\1}", route),
        "description": cleandoc(consumer.__doc__ or ""),
        "parameters": {name: {"description": "Of the run."} for name in CONVERTED.findall(route)},
        "messages": {frame: {"payload": {"$ref": f"#/components/schemas/{frame}"}}},
        "bindings": {"ws": {"query": {"type": "object", "properties": parameters}}},
    }


def _reached(names: set[str]) -> Schema:
    """The components of these names and all that they refer to, in order."""
    schemas = openapi_document()["components"]["schemas"]
    found: set[str] = set()
    while names:
        found |= names
        names = {name for each in names for name in _REFERENCE.findall(json.dumps(schemas[each]))} - found
    return {name: _without_discriminators(schemas[name]) for name in sorted(found)}


def _without_discriminators(node: Any) -> Any:
    """OpenAPI's name a property and a schema for each value. AsyncAPI's are the property alone, whose values are then
    names of schemas, which ours are not; each alternative says its value as a constant, too."""
    if isinstance(node, list):
        return [_without_discriminators(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _without_discriminators(value)
        for name, value in node.items()
        if not (name == "discriminator" and isinstance(value, dict) and "propertyName" in value)
    }
