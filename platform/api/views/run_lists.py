"""The table of runs, views of it under names, and one action on several runs."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access import get_project
from accounts.models import TokenScope
from api.filters import filter_runs
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import run_lists as bodies
from runs.bulk_actions import BulkAction, act_on_runs
from runs.run_lines import ALL_FIELDS, columns_of, run_lines
from runs.run_table import GroupBy, RunColumn, run_table
from runs.saved_views import forget_view, save_view
from runs.selectors import get_view, visible_runs, visible_views


class RunTableView(APIView):
    @extend_schema(parameters=[bodies.TableQuery], responses=bodies.RunTable)
    def get(self, request: Request) -> Response:
        """Any stretch of the runs that match, in any order, with their number; `GET /runs` has stable pages."""
        user, asked = user_of(request), checked(bodies.TableQuery(data=request.query_params))
        order, group = RunColumn(asked.pop("order")), asked.pop("group")
        stretch = {name: asked.pop(name) for name in ("descending", "offset", "limit")}
        rows = filter_runs(visible_runs(user), user=user, **asked)
        table = run_table(rows, order=order, group=group and GroupBy(group), **stretch)
        found = rows.filter(pk__in=table.run_ids).order_by().values(*columns_of(ALL_FIELDS))
        by_id = {run["id"]: run for run in found}
        return Response(
            {
                "number": table.number,
                "groups": bodies.RunGroup(table.groups, many=True).data,
                "results": run_lines(user, [by_id[run_id] for run_id in table.run_ids if run_id in by_id]),
            }
        )


class BulkView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(request=bodies.BulkRequest, responses=bodies.BulkAnswer)
    def post(self, request: Request) -> Response:
        """Do one thing to several runs. What is refused says why, and the others are done; with `all_or_none` a refusal
        is a 409 with `refused`, and nothing is done."""
        asked = checked(bodies.BulkRequest(data=request.data))
        action = BulkAction(asked.pop("action"))
        return Response(bodies.BulkAnswer(act_on_runs(user=user_of(request), action=action, **asked)).data)


class SavedViewsView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(operation_id="run_views_list", responses=page_of(bodies.SavedViewBody))
    def get(self, request: Request) -> Response:
        """Your views of the runs list, and those that are shared with your projects, by name."""
        rows = bodies.SavedViewBody(visible_views(request.user), many=True).data
        return Response({"next": None, "results": rows})

    @extend_schema(request=bodies.ViewToSave, responses={201: bodies.SavedViewBody})
    def post(self, request: Request) -> Response:
        """Save a view, in place of your earlier one of the same name and project."""
        asked = checked(bodies.ViewToSave(data=request.data))
        # What is left out of the query keeps its default, so that a view says no more than was chosen.
        query = {name: value for name, value in request.data["query"].items() if name in asked["query"]}
        project = get_project(request.user, asked["project"]) if asked["project"] else None
        view = save_view(user=user_of(request), **{**asked, "query": query, "project": project})
        return Response(bodies.SavedViewBody(view).data, status=201)


class SavedViewView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(responses={204: None})
    def delete(self, request: Request, view_id: UUID) -> Response:
        """Forget a view. Of a shared one, who saved it and the owners of its project may."""
        forget_view(user=user_of(request), view=get_view(request.user, view_id))
        return Response(status=204)
