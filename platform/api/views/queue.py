"""The queues for everybody; shares and policy for pool admins, who see first what a change would do."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from accounts.access import NotVisible, is_pool_admin
from accounts.models import Project, TokenScope, User
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import queue as bodies
from fleet.fair_share import Share
from fleet.models import Pool
from fleet.shares.pool_policies import policy_of, set_policy
from fleet.shares.shares import set_share
from runs.pool.share_view import share_rows
from runs.queue.queue_board import queue_rows, running_rows
from runs.run_queue import pools_with_queues


class QueueView(APIView):
    @extend_schema(operation_id="queue_list", parameters=[bodies.QueueQuery], responses=page_of(bodies.QueuedRun))
    def get(self, request: Request) -> Response:
        """The runs that wait, pool by pool in the order in which they are served there. Those of other projects are
        not named."""
        asked = checked(bodies.QueueQuery(data=request.query_params))
        pools = [_pool(asked["pool"]).name] if "pool" in asked else pools_with_queues()
        rows = [row for pool in pools for row in queue_rows(user_of(request), pool)[: asked.get("limit")]]
        return Response({"next": None, "results": bodies.QueuedRun(rows, many=True).data})


class RunningView(APIView):
    @extend_schema(
        operation_id="queue_running_list", parameters=[bodies.PoolQuery], responses=page_of(bodies.RunningInPool)
    )
    def get(self, request: Request) -> Response:
        """The runs that hold lanes of a pool, with their expected ends, the first first. Those of other projects are
        not named."""
        rows = running_rows(user_of(request), _asked_pool(request).name)
        return Response({"next": None, "results": bodies.RunningInPool(rows, many=True).data})


class QueuePreviewView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(operation_id="queue_preview", request=bodies.SharesToTry, responses={200: page_of(bodies.QueuedRun)})
    def post(self, request: Request) -> Response:
        """The queue of a pool as it would be with these shares of it, and with this half-life; nothing is saved. For
        pool admins."""
        asked = checked(bodies.SharesToTry(data=request.data))
        try:
            changed = {
                row["project"]: Share(guaranteed=row["guaranteed_lanes"], limit=row["max_lanes"], weight=row["weight"])
                for row in asked["shares"]
            }
        except ValueError as error:
            raise ValidationError({"shares": [str(error)]}) from error
        rows = queue_rows(user_of(request), _pool(asked["pool"]).name, changed, asked["half_life_hours"])
        return Response({"next": None, "results": bodies.QueuedRun(rows, many=True).data})


class SharesView(APIView):
    @extend_schema(operation_id="shares_list", parameters=[bodies.PoolQuery], responses=page_of(bodies.PoolShare))
    def get(self, request: Request) -> Response:
        """What your projects may have of a pool, have, and used lately; all projects, for pool admins."""
        rows = share_rows(user_of(request), _asked_pool(request).name)
        return Response({"next": None, "results": bodies.PoolShare(rows, many=True).data})


class ShareView(APIView):
    write_scope = TokenScope.POOL
    edited = ("guaranteed_lanes", "max_lanes", "weight")

    @extend_schema(parameters=[bodies.PoolQuery], responses=bodies.PoolShare)
    def get(self, request: Request, project_id: UUID) -> Response:
        """What one of your projects may have of a pool, has, and used lately; any project, for pool admins."""
        return Response(_share(user_of(request), _asked_pool(request), project_id))

    @extend_schema(parameters=[bodies.PoolQuery], request=bodies.ShareToSet, responses=bodies.PoolShare)
    def put(self, request: Request, project_id: UUID) -> Response:
        """Set a project's share of a pool. For pool admins."""
        asked = checked(bodies.ShareToSet(data=request.data))
        user, pool = user_of(request), _asked_pool(request)
        set_share(
            user=user,
            pool=pool,
            project=get_object_or_404(Project, pk=project_id) if is_pool_admin(user) else Project(),
            guaranteed=asked["guaranteed_lanes"],
            limit=asked["max_lanes"],
            weight=asked["weight"],
        )
        return Response(_share(user, pool, project_id))


def _share(user: User, pool: Pool, project_id: UUID) -> Any:
    """Raises `NotVisible` for a project that is not the user's to see."""
    row = next((row for row in share_rows(user, pool.name) if row.project_id == project_id), None)
    if row is None:
        raise NotVisible("no such project")
    return bodies.PoolShare(row).data


class PoolPolicyView(APIView):
    write_scope = TokenScope.POOL
    edited = ("half_life_hours", "reclaim_seconds", "idle_warning_minutes", "idle_release_minutes")

    @extend_schema(parameters=[bodies.PoolQuery], responses=bodies.PoolPolicy)
    def get(self, request: Request) -> Response:
        return Response(bodies.PoolPolicy(policy_of(_asked_pool(request).name)).data)

    @extend_schema(parameters=[bodies.PoolQuery], request=bodies.PolicyToSet, responses=bodies.PoolPolicy)
    def put(self, request: Request) -> Response:
        """Set the policy of a pool; what is left out stays. For pool admins."""
        asked = checked(bodies.PolicyToSet(data=request.data))
        policy = set_policy(user=user_of(request), pool=_asked_pool(request), changes=asked)
        return Response(bodies.PoolPolicy(policy).data)


def _asked_pool(request: Request) -> Pool:
    return _pool(checked(bodies.PoolQuery(data=request.query_params))["pool"])


def _pool(name: str) -> Pool:
    return get_object_or_404(Pool, pk=name)
