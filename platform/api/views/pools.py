"""The pools, for everybody."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.pages import page_of
from api.request_parsing import user_of
from api.serializers import pools as bodies
from runs.pool_overview import pool_overviews


class PoolsView(APIView):
    @extend_schema(operation_id="pools_list", responses=page_of(bodies.Pool))
    def get(self, request: Request) -> Response:
        """Every pool with its lanes, in the order in which pools match them."""
        rows = pool_overviews(user_of(request))
        return Response({"next": None, "results": bodies.Pool(rows, many=True).data})
