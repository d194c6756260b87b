"""Metrics for Prometheus."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from rest_framework.request import Request
from rest_framework.views import APIView

from analysis.prometheus.series import as_text
from api.request_parsing import user_of


class PrometheusView(APIView):
    @extend_schema(
        operation_id="prometheus_metrics",
        responses={(200, "text/plain"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request) -> HttpResponse:
        """What the pool, the GPUs, the queue and the runs that you may see do now, how Celery's tasks end, and how long
        this web process takes over requests, in Prometheus' text format. Scrape it with a token that reads."""
        text = as_text(user_of(request)) + generate_latest(REGISTRY)
        return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)
