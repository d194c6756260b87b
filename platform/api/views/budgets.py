"""What projects may spend."""

from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access import NotVisible, require_pool_admin
from accounts.models import Project, TokenScope
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import budgets as bodies
from fleet.models import BudgetPeriod, BudgetUnit, WhenSpent
from fleet.shares.spending import remove_budget, set_budget, spending, spendings


class BudgetsView(APIView):
    @extend_schema(operation_id="budgets_list", responses=page_of(bodies.Budget))
    def get(self, request: Request) -> Response:
        """The budgets of your projects, and what is spent of them; of all, for pool admins."""
        return Response({"next": None, "results": bodies.Budget(spendings(user_of(request)), many=True).data})


class BudgetView(APIView):
    write_scope = TokenScope.POOL
    edited = ("amount", "unit", "period", "warn_at", "when_spent")

    @extend_schema(responses=bodies.Budget)
    def get(self, request: Request, project_id: UUID) -> Response:
        """What one of your projects may spend, and what is spent of it; any project, for pool admins. 404 without."""
        found = (one for one in spendings(user_of(request)) if one.budget.project_id == project_id)
        if (of_project := next(found, None)) is None:
            raise NotVisible("no such budget")
        return Response(bodies.Budget(of_project).data)

    @extend_schema(request=bodies.BudgetToSet, responses=bodies.Budget)
    def put(self, request: Request, project_id: UUID) -> Response:
        """Set what a project may spend. For pool admins."""
        asked = checked(bodies.BudgetToSet(data=request.data))
        budget = set_budget(
            user=request.user,
            project=_project(request, project_id),
            amount=asked["amount"],
            unit=BudgetUnit(asked["unit"]),
            period=BudgetPeriod(asked["period"]),
            warn_at=asked["warn_at"],
            when_spent=WhenSpent(asked["when_spent"]),
        )
        return Response(bodies.Budget(spending(budget)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project_id: UUID) -> Response:
        """Let a project spend anything. For pool admins."""
        remove_budget(user=request.user, project=_project(request, project_id))
        return Response(status=204)


def _project(request: Request, project_id: UUID) -> Project:
    """Any project. Raises `PermissionDenied` for others than pool admins, who must not learn which ids exist."""
    require_pool_admin(request.user)
    return get_object_or_404(Project, pk=project_id)
