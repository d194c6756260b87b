"""The websocket addresses, for `server.routing`."""

from django.urls import path

from telemetry.sockets.consumers import ProjectsConsumer, RunConsumer
from telemetry.sockets.pool_consumer import PoolConsumer

websocket_urlpatterns = [
    path("ws/v1/runs/<uuid:run_id>", RunConsumer.as_asgi()),
    path("ws/v1/projects", ProjectsConsumer.as_asgi()),
    path("ws/v1/pool", PoolConsumer.as_asgi()),
]
