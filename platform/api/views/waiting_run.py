"""One run that waits: its place in the queue, and what would start now."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access import NotVisible, is_pool_admin
from accounts.models import TokenScope
from api.contract_schema import component
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import queue as bodies
from api.views.telemetry import RunDataView
from runs import selectors
from runs.models import Run
from runs.queue.alternatives import alternatives
from runs.queue.asked_lanes import change_lanes
from runs.queue.queue_places import Direction, move_in_queue, undo_move
from runs.run_body import RunBody


class QueuePlaceView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(request=bodies.QueueMove, responses={204: None})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Move a waiting run in the queue of its pool. For pool admins; everybody sees the reason."""
        asked = checked(bodies.QueueMove(data=request.data))
        move_in_queue(
            user=user_of(request),
            run=_run_of_any_project(request, run_id),
            direction=Direction(asked["direction"]),
            reason=asked["reason"],
        )
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Give the run the place again that fair share gives it. For pool admins."""
        undo_move(user=user_of(request), run=_run_of_any_project(request, run_id))
        return Response(status=204)


class AlternativesView(RunDataView):
    write_scope = TokenScope.RUN

    @extend_schema(operation_id="run_alternatives_list", responses=page_of(bodies.AlternativeLanes))
    def get(self, request: Request, run_id: UUID) -> Response:
        """What a waiting run could ask for instead, so that it starts now and delays nobody; may take seconds, since
        the planner predicts how much slower it would be."""
        rows = alternatives(self.run(run_id))
        return Response({"next": None, "results": bodies.AlternativeLanes(rows, many=True).data})

    @extend_schema(request=bodies.LanesToAskFor, responses={200: component(RunBody)})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Let a waiting run ask for other lanes; fields that are left out stay. 409 for a run that does not wait."""
        asked = checked(bodies.LanesToAskFor(data=request.data))
        run = change_lanes(user=user_of(request), run=selectors.get_run(request.user, run_id), lanes=asked)
        return Response(selectors.run_body_for(request.user, selectors.get_run(request.user, run.pk)))


def _run_of_any_project(request: Request, run_id: UUID) -> Run:
    """The run, for pool admins; for others as far as they see it."""
    if not is_pool_admin(request.user):
        return selectors.get_run(request.user, run_id)
    run = Run.objects.select_related("project").defer("prompts").filter(pk=run_id).first()
    if run is None:
        raise NotVisible("no such run")
    return run
