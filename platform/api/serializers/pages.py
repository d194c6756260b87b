"""The shape of a page for the schema, where no paginator of DRF's describes it."""

from functools import cache
from typing import Any

from rest_framework import serializers


@cache
def page_of(body: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """A serializer of `{next, results: [body]}`; the same one each time, as the schema names it by its class."""
    fields = {
        "next": serializers.URLField(allow_null=True),
        "results": body(many=True),
        "__doc__": f"One page: {body.__doc__ or body.__name__}",
    }
    name = f"{body.__name__.removesuffix('Body')}Page"
    made: type[serializers.Serializer[Any]] = type(name, (serializers.Serializer,), fields)
    return made()
