"""The schemas of REST v1 and of the websockets, the same for everybody."""

from functools import cache

from django.http import HttpResponse
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.asyncapi_document import asyncapi_document
from api.openapi_document import openapi_document


class SchemaView(APIView):
    renderer_classes = (OpenApiYamlRenderer, OpenApiYamlRenderer2, OpenApiJsonRenderer, OpenApiJsonRenderer2)
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        renderer: BaseRenderer = request.accepted_renderer
        name = f'inline; filename="tandem.{renderer.format}"'
        headers = {"Content-Type": renderer.media_type, "Content-Disposition": name}
        return HttpResponse(_schema(renderer.media_type), headers=headers)


class SocketsSchemaView(APIView):
    renderer_classes = (JSONRenderer,)
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(asyncapi_document())


@cache
def _schema(media_type: str) -> bytes:
    """Written once in a process: it takes a second, and nobody need log in to ask for it."""
    renderer = next(kind() for kind in SchemaView.renderer_classes if kind.media_type == media_type)
    text: bytes = renderer.render(openapi_document(), renderer_context={})
    return text
