"""The pool: nodes and lanes for everybody, cordon, drain and resume for pool admins."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import pool as bodies
from fleet.models import Lane, Node
from fleet.upkeep import PoolAction, change_lane, change_node
from runs.pool_view import LaneRow, NodeRow, lane_row, node_row, pool_rows


class NodesView(APIView):
    @extend_schema(operation_id="nodes_list", responses=page_of(bodies.PoolNode))
    def get(self, request: Request) -> Response:
        """Every node with its lanes. Lanes held by runs of other projects are shown as held, without the run's name."""
        rows = pool_rows(user_of(request))
        return Response({"next": None, "results": bodies.PoolNode(rows, many=True).data})


class NodeView(APIView):
    @extend_schema(responses=bodies.PoolNode)
    def get(self, request: Request, node_id: int) -> Response:
        return Response(bodies.PoolNode(_node(request, node_id)).data)


class LanesView(APIView):
    @extend_schema(operation_id="lanes_list", parameters=[bodies.LanesQuery], responses=page_of(bodies.PoolLane))
    def get(self, request: Request) -> Response:
        """Every lane, or those of a node, a kind, a state."""
        asked = checked(bodies.LanesQuery(data=request.query_params))
        lanes = [lane for row in pool_rows(user_of(request)) for lane in row.lanes]
        found = [lane for lane in lanes if all(getattr(lane, field) == value for field, value in asked.items())]
        return Response({"next": None, "results": bodies.PoolLane(found, many=True).data})


class NodeActionsView(APIView):
    @extend_schema(request=bodies.NodeAction, responses=bodies.PoolNode)
    def post(self, request: Request, node_id: int) -> Response:
        """Cordon, drain or resume a node; runs on it keep their lanes. For pool admins."""
        asked = checked(bodies.NodeAction(data=request.data))
        node = get_object_or_404(Node, pk=node_id)
        change_node(user=user_of(request), node=node, action=PoolAction(asked["action"]), reason=asked["reason"])
        return Response(bodies.PoolNode(_node(request, node_id)).data)


class LaneActionsView(APIView):
    @extend_schema(request=bodies.LaneAction, responses=bodies.PoolLane)
    def post(self, request: Request, lane_id: int) -> Response:
        """Cordon or resume one lane; a run that holds it keeps it. For pool admins."""
        asked = checked(bodies.LaneAction(data=request.data))
        lane = get_object_or_404(Lane, pk=lane_id)
        change_lane(user=user_of(request), lane=lane, action=PoolAction(asked["action"]), reason=asked["reason"])
        return Response(bodies.PoolLane(_lane(request, lane_id)).data)


def _node(request: Request, node_id: int) -> NodeRow:
    row = node_row(user_of(request), node_id)
    if row is None:
        raise Http404("no such node")
    return row


def _lane(request: Request, lane_id: int) -> LaneRow:
    row = lane_row(user_of(request), lane_id)
    if row is None:
        raise Http404("no such lane")
    return row
