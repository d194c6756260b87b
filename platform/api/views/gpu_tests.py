"""Tests of a GPU: everybody reads them, pool admins ask for one."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.pages import NewestFirst, page_of
from api.request_parsing import checked, user_of
from api.serializers import gpu_tests as bodies
from fleet.health.upkeep import ask_for_test
from fleet.models import Gpu


class GpuTestsView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(
        operation_id="gpus_tests_list", parameters=[bodies.GpuTestsQuery], responses=page_of(bodies.GpuTestBody)
    )
    def get(self, request: Request, gpu_id: int) -> Response:
        """The tests of a GPU, newest first."""
        checked(bodies.GpuTestsQuery(data=request.query_params))
        gpu = get_object_or_404(Gpu, pk=gpu_id)
        paginator = NewestFirst()
        found = paginator.paginate_queryset(gpu.tests.select_related("peer__node"), request, view=self)
        return paginator.get_paginated_response(bodies.GpuTestBody(found, many=True).data)

    @extend_schema(request=bodies.GpuTestRequest, responses={202: bodies.GpuTestBody})
    def post(self, request: Request, gpu_id: int) -> Response:
        """Test a GPU now: it takes no new work until it has passed. A run that holds its lane goes on, and the test
        waits for it. For pool admins."""
        asked = checked(bodies.GpuTestRequest(data=request.data))
        gpu = get_object_or_404(Gpu.objects.select_related("node"), pk=gpu_id)
        test = ask_for_test(user=user_of(request), gpu=gpu, reason=asked["reason"])
        return Response(bodies.GpuTestBody(test).data, status=202)
