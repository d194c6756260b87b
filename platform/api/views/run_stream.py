"""A run's stream as server-sent events."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from api.request_parsing import checked, user_of
from runs.selectors import get_run
from telemetry.selectors import last_stream_seq
from telemetry.sockets.event_stream import event_stream
from worker.contracts.base import MAX_INTEGER
from worker.contracts.states import END_STATES

LAST_SEEN = "Last-Event-ID"
MEDIA_TYPE = "text/event-stream"


class StreamQuery(serializers.Serializer[Any]):
    after_seq = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_INTEGER,
        help_text="Items above this number; 0 for all. Without it, what happens from now on.",
    )


class EventStreamRenderer(JSONRenderer):
    """Lets a client ask for events alone. What it renders are refusals, which are JSON."""

    media_type = MEDIA_TYPE
    format = "event-stream"


class RunStreamView(APIView):
    renderer_classes = (JSONRenderer, EventStreamRenderer)

    @extend_schema(
        operation_id="run_stream",
        parameters=[
            StreamQuery,
            OpenApiParameter(
                LAST_SEEN, int, OpenApiParameter.HEADER, description="Sent by clients that connect again; goes first."
            ),
        ],
        responses={(200, MEDIA_TYPE): OpenApiTypes.STR, 204: None},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """The run's items as server-sent events (`curl -N`): `id` is the item's number, `event` its type, `data` the
        item as the websocket sends it. A comment is sent in silence. After the run's end comes the event `end`, and a
        client that connects again gets 204, which tells it to stop."""
        user, run = user_of(request), get_run(request.user, run_id)
        asked = dict(request.query_params.items())
        seen = request.headers.get(LAST_SEEN)
        after_seq = checked(StreamQuery(data=asked if seen is None else {"after_seq": seen})).get("after_seq")
        newest = last_stream_seq(run.pk)
        if seen is not None and after_seq == newest and run.run_state in END_STATES:
            return HttpResponse(status=204)
        begin = newest if after_seq is None else after_seq
        return StreamingHttpResponse(
            event_stream(user, run.pk, begin, session_key=request.session.session_key),
            content_type=MEDIA_TYPE,
            # nginx would hold events back until its buffer is full.
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
