"""The size of a run: its lanes, and resizes while it works."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.contract_schema import component
from api.request_parsing import checked, user_of
from api.serializers import runs as bodies
from api.views.telemetry import RunDataView
from fleet.services import WantedLanes
from runs import selectors
from runs.operation_ids import OperationKind, operation_id
from runs.resize_body import RunSize, run_size
from runs.resizing.resize_services import WantedResize, request_resize
from worker.contracts.names import LaneRole
from worker.contracts.resizing import RoleChange


class RunSizeView(RunDataView):
    @extend_schema(responses={200: component(RunSize)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """The lanes that the run holds, the free ones that could join it, what changing its trainer lanes is expected
        to take, and its resizes, newest first."""
        return Response(run_size(request.user, self.run(run_id)))


class ResizeView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(request=bodies.ResizeRequest, responses={202: bodies.ResizeAnswer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Add lanes to a run, release lanes, or change their roles, while it works. Rollout and reward lanes join and
        leave between fragments; a change of the trainer lanes waits for the end of a batch. `GET …/size` and the
        `lanes` events report how far it is. 409 while another resize is under way."""
        asked = checked(bodies.ResizeRequest(data=request.data))
        run = selectors.get_run(request.user, run_id)
        resize = request_resize(user=user_of(request), run=run, wanted=_wanted(asked))
        begun = operation_id(OperationKind.RESIZE, resize.pk)
        return Response({"resize_id": str(resize.pk), "operation": begun}, status=202)


def _wanted(asked: dict[str, Any]) -> WantedResize:
    return WantedResize(
        add=[
            WantedLanes(role=LaneRole(more["role"]), number=more["number"], device=more.get("device"))
            for more in asked.get("add", ())
        ],
        release=asked.get("release", ()),
        change=[RoleChange(lane=change["lane"], role=LaneRole(change["role"])) for change in asked.get("change", ())],
    )
