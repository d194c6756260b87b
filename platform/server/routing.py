"""Websocket addresses: the apps' own lists, behind the session cookie and the origin check."""

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator

from telemetry.sockets.routing import websocket_urlpatterns

websocket_application = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
