"""The queue for everybody; shares and policy for pool admins, who see first what a change would do."""

from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from accounts.access import is_pool_admin
from accounts.models import Project
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import queue as bodies
from fleet.fair_share import Share
from fleet.shares import half_life_hours, set_half_life, set_share
from runs.queue_view import queue_rows, share_rows


class QueueView(APIView):
    @extend_schema(operation_id="queue_list", responses=page_of(bodies.QueuedRun))
    def get(self, request: Request) -> Response:
        """The runs that wait, in the order in which they are served. Those of other projects are not named."""
        rows = queue_rows(user_of(request))
        return Response({"next": None, "results": bodies.QueuedRun(rows, many=True).data})


class QueuePreviewView(APIView):
    @extend_schema(operation_id="queue_preview", request=bodies.SharesToTry, responses={200: page_of(bodies.QueuedRun)})
    def post(self, request: Request) -> Response:
        """The queue as it would be with these shares; nothing is saved. For pool admins."""
        asked = checked(bodies.SharesToTry(data=request.data))
        try:
            changed = {
                row["project"]: Share(guaranteed=row["guaranteed_lanes"], limit=row["max_lanes"], weight=row["weight"])
                for row in asked["shares"]
            }
        except ValueError as error:
            raise ValidationError({"shares": [str(error)]}) from error
        rows = queue_rows(user_of(request), changed)
        return Response({"next": None, "results": bodies.QueuedRun(rows, many=True).data})


class SharesView(APIView):
    @extend_schema(operation_id="shares_list", responses=page_of(bodies.PoolShare))
    def get(self, request: Request) -> Response:
        """What your projects may have of the pool, have, and used lately; all projects, for pool admins."""
        rows = share_rows(user_of(request))
        return Response({"next": None, "results": bodies.PoolShare(rows, many=True).data})


class ShareView(APIView):
    @extend_schema(request=bodies.ShareToSet, responses=bodies.PoolShare)
    def put(self, request: Request, project_id: UUID) -> Response:
        """Set the share of a project. For pool admins."""
        asked = checked(bodies.ShareToSet(data=request.data))
        user = user_of(request)
        set_share(
            user=user,
            project=get_object_or_404(Project, pk=project_id) if is_pool_admin(user) else Project(),
            guaranteed=asked["guaranteed_lanes"],
            limit=asked["max_lanes"],
            weight=asked["weight"],
        )
        (row,) = (row for row in share_rows(user) if row.project_id == project_id)
        return Response(bodies.PoolShare(row).data)


class PoolPolicyView(APIView):
    @extend_schema(responses=bodies.PoolPolicy)
    def get(self, request: Request) -> Response:
        return Response({"half_life_hours": half_life_hours()})

    @extend_schema(request=bodies.PolicyToSet, responses=bodies.PoolPolicy)
    def put(self, request: Request) -> Response:
        """Set how fast use is forgiven. For pool admins."""
        asked = checked(bodies.PolicyToSet(data=request.data))
        policy = set_half_life(user=user_of(request), hours=asked["half_life_hours"])
        return Response({"half_life_hours": policy.half_life_hours})
