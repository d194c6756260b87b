"""ASGI entry point: http to Django, websockets to the consumers."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")
# Of this process alone: commands and the task worker have few threads, each with a connection for one task.
os.environ.setdefault("TANDEM_WEB_CONNECTIONS", "20")
# Django must be set up before the consumers import models.
http_application = get_asgi_application()

from server.routing import websocket_application  # noqa: E402

application = ProtocolTypeRouter({"http": http_application, "websocket": websocket_application})
