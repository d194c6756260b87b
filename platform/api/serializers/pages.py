"""The shape of a list that is answered whole: a page without a next one."""

from typing import Any

from rest_framework import serializers


def whole_page(body: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """A serializer of `{next: null, results: [body]}` for the schema."""
    fields = {
        "next": serializers.URLField(allow_null=True),
        "results": body(many=True),
        "__doc__": f"One page: {body.__doc__ or body.__name__}",
    }
    name = f"{body.__name__.removesuffix('Body')}Page"
    made: type[serializers.Serializer[Any]] = type(name, (serializers.Serializer,), fields)
    return made()
