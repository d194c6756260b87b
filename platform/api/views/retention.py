"""Retention, for pool admins: what is kept for how long, what would be deleted now, and its deletion."""

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access import require_pool_admin
from accounts.models import TokenScope
from api.request_parsing import checked, user_of
from api.serializers import deletions as bodies
from retention.asked_deletions import ask_for_deletion
from retention.deletion_preview import preview_deletion
from retention.kinds import KINDS
from runs.operation_ids import OperationKind, operation_id


class RetentionView(APIView):
    @extend_schema(responses=bodies.Retention)
    def get(self, request: Request) -> Response:
        """For how long each kind of data is kept. For pool admins."""
        require_pool_admin(request.user)
        kinds = [{"kind": kind.value, "days": data.days, "setting": data.setting} for kind, data in KINDS.items()]
        found = {"kinds": kinds, "is_automatic": settings.TANDEM_RETENTION}
        return Response(bodies.Retention(found).data)


class RetentionPreviewView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(operation_id="retention_preview", request=None, responses={201: bodies.DeletionPreview})
    def post(self, request: Request) -> Response:
        """What is past its days now, by kind and run; nothing is deleted. For pool admins."""
        return Response(bodies.preview_answer(preview_deletion(user=user_of(request))), status=201)


class DeletionView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(
        operation_id="retention_delete", request=bodies.DeletionRequest, responses={202: bodies.AskedDeletion}
    )
    def post(self, request: Request) -> Response:
        """Delete what a preview showed, and nothing else, in the background. A 409 says as `changed` what there is more
        of by now, or as `operation` which other deletion is under way. A repeat answers the same operation. For pool
        admins."""
        user = require_pool_admin(request.user)
        asked = checked(bodies.DeletionRequest(data=request.data))
        deletion = ask_for_deletion(user=user, deletion_id=asked["preview"])
        return Response(
            bodies.AskedDeletion({"operation": operation_id(OperationKind.RETENTION, deletion.pk)}).data, 202
        )
