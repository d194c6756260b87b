"""One GPU: its last hours, who used it, how its health went. Everybody reads that; runs are named to some."""

from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.pages import CursorPage, page_of
from api.request_parsing import checked, user_of
from api.serializers import gpu_tests as test_bodies
from api.serializers import pool_history as bodies
from api.views.pool import NewestChangesFirst
from fleet.health.upkeep import ask_for_tests
from fleet.models import Gpu
from fleet.reports.live_history import live_history
from runs.pool.gpu_view import gpu_health_rows, gpu_uses, uses_of


class NewestUsesFirst(CursorPage):
    ordering = ("-since", "-pk")


@method_decorator(gzip_page, name="dispatch")
class GpuMinutesView(APIView):
    @extend_schema(parameters=[bodies.GpuMinutesQuery], responses=bodies.GpuMinutes)
    def get(self, request: Request, gpu_id: int) -> Response:
        """Utilisation, memory, temperature, power and clocks of the last hours, minute by minute."""
        asked = checked(bodies.GpuMinutesQuery(data=request.query_params))
        gpu = get_object_or_404(Gpu, pk=gpu_id)
        return Response(bodies.GpuMinutes(live_history(gpu, since=asked.get("since"))).data)


class GpuUsesView(APIView):
    @extend_schema(operation_id="gpus_uses_list", parameters=[bodies.PageQuery], responses=page_of(bodies.GpuUseBody))
    def get(self, request: Request, gpu_id: int) -> Response:
        """Who used the GPU, newest first: runs, previews, tests."""
        checked(bodies.PageQuery(data=request.query_params))
        gpu = get_object_or_404(Gpu.objects.select_related("node"), pk=gpu_id)
        paginator = NewestUsesFirst()
        found = paginator.paginate_queryset(uses_of(gpu), request, view=self) or []
        rows = gpu_uses(user_of(request), found)
        return paginator.get_paginated_response(bodies.GpuUseBody(rows, many=True).data)


class GpuHealthView(APIView):
    @extend_schema(
        operation_id="gpus_health_list", parameters=[bodies.PageQuery], responses=page_of(bodies.GpuHealthBody)
    )
    def get(self, request: Request, gpu_id: int) -> Response:
        """Every change of the GPU's health, newest first, with what its driver had counted."""
        checked(bodies.PageQuery(data=request.query_params))
        gpu = get_object_or_404(Gpu, pk=gpu_id)
        paginator = NewestChangesFirst()
        found = paginator.paginate_queryset(gpu.health_changes.all(), request, view=self) or []
        rows = gpu_health_rows(user_of(request), found)
        return paginator.get_paginated_response(bodies.GpuHealthBody(rows, many=True).data)


class TestGpusView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(request=bodies.GpusToTest, responses={202: page_of(test_bodies.GpuTestBody)})
    def post(self, request: Request) -> Response:
        """Test several GPUs, all or none of them, as one is tested. For pool admins."""
        asked = checked(bodies.GpusToTest(data=request.data))
        tests = ask_for_tests(user=user_of(request), gpus=asked["gpus"], reason=asked["reason"])
        return Response({"next": None, "results": test_bodies.GpuTestBody(tests, many=True).data}, status=202)
