"""Health checks for load balancers: whether this process answers, and whether its servers do."""

from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, connection
from drf_spectacular.utils import extend_schema
from redis import Redis, RedisError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.database_circuit import CIRCUIT
from api.serializers.health import DatabaseCircuit, LiveBody, ReadyBody

PROBE_TIMEOUT_SECONDS = 2.0


class LiveView(APIView):
    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(responses=LiveBody)
    def get(self, request: Request) -> Response:
        """The process answers."""
        return Response({"ok": True})


class ReadyView(APIView):
    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(responses={200: ReadyBody, 503: ReadyBody})
    def get(self, request: Request) -> Response:
        """Database and broker answer too; 503 names the one that does not."""
        checks = {"database": _answers(_ask_database), "broker": _answers(_ask_broker)}
        ok = all(state == "ok" for state in checks.values())
        circuit = DatabaseCircuit(CIRCUIT.state).data
        return Response({"ok": ok, "checks": checks, "database_circuit": circuit}, status=200 if ok else 503)


def _answers(ask: Callable[[], object]) -> str:
    try:
        ask()
    except (DatabaseError, RedisError, OSError) as error:
        return f"away: {type(error).__name__}"
    return "ok"


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _ask_broker() -> None:
    with Redis.from_url(settings.REDIS_URL, socket_timeout=PROBE_TIMEOUT_SECONDS) as client:
        client.ping()
