"""The pools for everybody; pool admins make, change and remove them, and see first which lanes would move."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import pools as bodies
from fleet.models import Pool
from fleet.pools.pool_services import change_pool, create_pool, moves_after
from runs.pool.pool_overview import pool_overviews
from runs.pool.pool_removal import remove_pool


class PoolsView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(operation_id="pools_list", responses=page_of(bodies.Pool))
    def get(self, request: Request) -> Response:
        """Every pool with its lanes, in the order in which pools match them."""
        rows = pool_overviews(user_of(request))
        return Response({"next": None, "results": bodies.Pool(rows, many=True).data})

    @extend_schema(request=bodies.NewPool, responses={201: bodies.Pool})
    def post(self, request: Request) -> Response:
        """Make a pool; the lanes that it matches move there, and who holds them keeps them. For pool admins."""
        asked = checked(bodies.NewPool(data=request.data))
        pool = create_pool(user=user_of(request), **asked)
        return Response(_body(request, pool), status=status.HTTP_201_CREATED)


class PoolsPreviewView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(operation_id="pools_preview", request=bodies.PoolsToTry, responses={200: page_of(bodies.LaneMove)})
    def post(self, request: Request) -> Response:
        """The lanes that would move with these labels and this pool; nothing is saved. For pool admins."""
        asked = checked(bodies.PoolsToTry(data=request.data))
        found = moves_after(
            user=user_of(request),
            nodes={row["id"]: row["labels"] for row in asked["nodes"]},
            gpus={row["id"]: row["labels"] for row in asked["gpus"]},
            pool=None if asked["pool"] is None else Pool(**asked["pool"]),
        )
        return Response({"next": None, "results": bodies.LaneMove(found, many=True).data})


class OnePoolView(APIView):
    write_scope = TokenScope.POOL
    edited = ("description", "match_labels", "order")

    @extend_schema(responses=bodies.Pool)
    def get(self, request: Request, name: str) -> Response:
        return Response(_body(request, get_object_or_404(Pool, pk=name)))

    @extend_schema(request=bodies.PoolToChange, responses=bodies.Pool)
    def patch(self, request: Request, name: str) -> Response:
        """Write description, labels or order, and move the lanes that this concerns. For pool admins."""
        asked = checked(bodies.PoolToChange(data=request.data))
        pool = get_object_or_404(Pool, pk=name)
        change_pool(user=user_of(request), pool=pool, **asked)
        return Response(_body(request, pool))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Remove a pool that no run needs; its lanes move to those that match them now. For pool admins."""
        remove_pool(user=user_of(request), pool=get_object_or_404(Pool, pk=name))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _body(request: Request, pool: Pool) -> object:
    (row,) = pool_overviews(user_of(request), [pool.pk])
    return bodies.Pool(row).data
