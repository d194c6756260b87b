"""The table of runs, and one action on several of them."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.filters import filter_runs
from api.listed_runs import listed_runs
from api.request_parsing import checked, user_of
from api.serializers import run_lists as bodies
from runs.bulk_actions import BulkAction, act_on_runs
from runs.run_table import GroupBy, RunColumn, run_table
from runs.selectors import listable_runs


class RunTableView(APIView):
    @extend_schema(parameters=[bodies.TableQuery], responses=bodies.RunTable)
    def get(self, request: Request) -> Response:
        """Any stretch of the runs that match, in any order, with their number; `GET /runs` has stable pages."""
        user, asked = user_of(request), checked(bodies.TableQuery(data=request.query_params))
        order, group = RunColumn(asked.pop("order")), asked.pop("group")
        stretch = {name: asked.pop(name) for name in ("descending", "offset", "limit")}
        rows = filter_runs(listable_runs(user), user=user, **asked)
        table = run_table(rows, order=order, group=group and GroupBy(group), **stretch)
        return Response(
            {
                "number": table.number,
                "groups": [{"value": one.value, "number": one.number} for one in table.groups],
                "results": listed_runs(user, table.runs),
            }
        )


class BulkView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(request=bodies.BulkRequest, responses=bodies.BulkAnswer)
    def post(self, request: Request) -> Response:
        """Do one thing to several runs. What is refused says why, and the others are done."""
        asked = checked(bodies.BulkRequest(data=request.data))
        action = BulkAction(asked.pop("action"))
        return Response(bodies.BulkAnswer(act_on_runs(user=user_of(request), action=action, **asked)).data)
