"""The audit log: pool admins read all of it, owners of projects what concerns theirs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.audit_log import AuditFilter, audit_entries
from accounts.models import Project
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import audit_rows as bodies
from api.views.pool import NewestChangesFirst


class AuditView(APIView):
    @extend_schema(operation_id="audit_list", parameters=[bodies.AuditQuery], responses=page_of(bodies.AuditRow))
    def get(self, request: Request) -> Response:
        """Who changed what, when, by which request, newest first. Of projects that you own; everything, for pool
        admins."""
        asked: dict[str, Any] = dict(checked(bodies.AuditQuery(data=request.query_params)))
        wanted = AuditFilter(**{name: value for name, value in asked.items() if name not in ("cursor", "limit")})
        paginator = NewestChangesFirst()
        rows = paginator.paginate_queryset(audit_entries(user_of(request), wanted), request, view=self) or []
        names = dict(Project.objects.filter(pk__in={row.project_id for row in rows}).values_list("pk", "name"))
        body = bodies.AuditRow(rows, many=True, context={"project_names": names})
        return paginator.get_paginated_response(body.data)
