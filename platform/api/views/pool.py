"""The pool: nodes, GPUs and lanes for everybody, cordon, drain and resume for pool admins.

Lists of GPUs are compressed: 512 of them are a megabyte, and a twentieth of it compressed.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope
from api.pages import CursorPage, page_of
from api.request_parsing import checked, user_of
from api.serializers import pool as bodies
from fleet.allocation.wide_lanes import set_gpus_per_lane
from fleet.health.upkeep import PoolAction, act, act_on_all
from fleet.models import Gpu, Lane, Node, StateChange
from fleet.pools.annotate import annotate
from fleet.selectors import changes_of
from fleet.states.node_removal import remove_node
from runs.pool.pool_view import GpuRow, LaneRow, NodeRow, gpu_row, lane_row, node_row, pool_facts, pool_rows


class PoolView(APIView):
    @extend_schema(responses=bodies.PoolFactsBody)
    def get(self, request: Request) -> Response:
        """How a machine joins the pool, and when the pool was last reported."""
        return Response(bodies.PoolFactsBody(pool_facts()).data)


class PoolActionsView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(request=bodies.PoolActions, responses=page_of(bodies.PoolNode))
    def post(self, request: Request) -> Response:
        """Act on several nodes, GPUs and lanes, on all or none; the answer is their nodes. For pool
        admins."""
        asked = checked(bodies.PoolActions(data=request.data))
        user = user_of(request)
        targets = {kind: asked[kind] for kind in ("nodes", "gpus", "lanes")}
        concerned = act_on_all(user=user, **targets, **_action(asked))
        return _page(pool_rows(user, concerned))


@method_decorator(gzip_page, name="dispatch")
class NodesView(APIView):
    @extend_schema(operation_id="nodes_list", parameters=[bodies.NodesQuery], responses=page_of(bodies.PoolNode))
    def get(self, request: Request) -> Response:
        """Every node with its GPUs and lanes. A lane that a run of another project holds is shown without that run."""
        asked = checked(bodies.NodesQuery(data=request.query_params))
        return _page(pool_rows(user_of(request), asked.get("ids")))


class NodeView(APIView):
    write_scope = TokenScope.POOL
    edited = ("labels", "notes", "price_per_gpu_hour", "gpus_per_lane")

    @extend_schema(responses=bodies.PoolNode)
    def get(self, request: Request, node_id: int) -> Response:
        return Response(bodies.PoolNode(_node(request, node_id)).data)

    @extend_schema(request=bodies.NodeToWrite, responses=bodies.PoolNode)
    def patch(self, request: Request, node_id: int) -> Response:
        """Write labels, notes, the price of a node's GPUs, or how many of them make a lane. For pool admins."""
        asked, node = checked(bodies.NodeToWrite(data=request.data)), get_object_or_404(Node, pk=node_id)
        number = asked.pop("gpus_per_lane", None)
        with transaction.atomic():
            _annotate(request, node, asked)
            if number is not None:
                set_gpus_per_lane(user=user_of(request), node=node, number=number)
        return Response(bodies.PoolNode(_node(request, node_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, node_id: int) -> Response:
        """Remove a node that is lost for good, with its GPUs and lanes; its history stays. For pool admins."""
        remove_node(user=request.user, node=get_object_or_404(Node, pk=node_id))
        return Response(status=204)


class LanesView(APIView):
    @extend_schema(operation_id="lanes_list", parameters=[bodies.LanesQuery], responses=page_of(bodies.PoolLane))
    def get(self, request: Request) -> Response:
        """Every lane, or those of a node, a pool, a kind, a state."""
        asked = checked(bodies.LanesQuery(data=request.query_params))
        lanes = [lane for row in pool_rows(user_of(request)) for lane in row.lanes]
        found = [lane for lane in lanes if all(getattr(lane, field) == value for field, value in asked.items())]
        return Response({"next": None, "results": bodies.PoolLane(found, many=True).data})


@method_decorator(gzip_page, name="dispatch")
class GpusView(APIView):
    @extend_schema(operation_id="gpus_list", parameters=[bodies.GpusQuery], responses=page_of(bodies.PoolGpu))
    def get(self, request: Request) -> Response:
        """Every GPU, or those of a node, an accelerator, a state."""
        asked = checked(bodies.GpusQuery(data=request.query_params))
        gpus = [gpu for row in pool_rows(user_of(request)) for gpu in row.gpus]
        found = [gpu for gpu in gpus if all(getattr(gpu, field) == value for field, value in asked.items())]
        return Response({"next": None, "results": bodies.PoolGpu(found, many=True).data})


class GpuView(APIView):
    write_scope = TokenScope.POOL
    edited = ("labels", "notes", "price_per_gpu_hour")

    @extend_schema(responses=bodies.PoolGpu)
    def get(self, request: Request, gpu_id: int) -> Response:
        return Response(bodies.PoolGpu(_gpu(request, gpu_id)).data)

    @extend_schema(request=bodies.AnnotationsToWrite, responses=bodies.PoolGpu)
    def patch(self, request: Request, gpu_id: int) -> Response:
        """Write labels, notes or the price of one GPU. For pool admins."""
        _annotate(request, get_object_or_404(Gpu, pk=gpu_id), checked(bodies.AnnotationsToWrite(data=request.data)))
        return Response(bodies.PoolGpu(_gpu(request, gpu_id)).data)


class GpuActionsView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(request=bodies.NodeAction, responses=bodies.PoolGpu)
    def post(self, request: Request, gpu_id: int) -> Response:
        """Cordon, drain, maintain or resume one GPU; a run that holds its lane keeps it. For pool admins."""
        asked = checked(bodies.NodeAction(data=request.data))
        gpu = get_object_or_404(Gpu, pk=gpu_id)
        act(user=user_of(request), on=gpu, **_action(asked))
        return Response(bodies.PoolGpu(_gpu(request, gpu_id)).data)


class NewestChangesFirst(CursorPage):
    ordering = ("-at", "-pk")


class HistoryView(APIView):
    """One page of changes, the newest first."""

    def page(self, request: Request, changes: QuerySet[StateChange]) -> Response:
        paginator = NewestChangesFirst()
        found = paginator.paginate_queryset(changes, request, view=self)
        return paginator.get_paginated_response(bodies.PoolChange(found, many=True).data)


class NodeHistoryView(HistoryView):
    @extend_schema(parameters=[bodies.HistoryQuery], responses=page_of(bodies.PoolChange))
    def get(self, request: Request, node_id: int) -> Response:
        """Every change of the node, its GPUs and its lanes, newest first."""
        get_object_or_404(Node, pk=node_id)
        return self.page(request, changes_of(node=node_id))


class GpuHistoryView(HistoryView):
    @extend_schema(parameters=[bodies.HistoryQuery], responses=page_of(bodies.PoolChange))
    def get(self, request: Request, gpu_id: int) -> Response:
        """Every change of the GPU, and of the node itself that it is in, newest first."""
        get_object_or_404(Gpu, pk=gpu_id)
        return self.page(request, changes_of(gpu=gpu_id))


class LaneHistoryView(HistoryView):
    @extend_schema(parameters=[bodies.HistoryQuery], responses=page_of(bodies.PoolChange))
    def get(self, request: Request, lane_id: int) -> Response:
        """Every change of the lane, and of the node itself that it is in, newest first."""
        get_object_or_404(Lane, pk=lane_id)
        return self.page(request, changes_of(lane=lane_id))


class NodeActionsView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(request=bodies.NodeAction, responses=bodies.PoolNode)
    def post(self, request: Request, node_id: int) -> Response:
        """Cordon, drain, maintain or resume a node; runs on it keep their lanes. For pool admins."""
        asked = checked(bodies.NodeAction(data=request.data))
        node = get_object_or_404(Node, pk=node_id)
        act(user=user_of(request), on=node, **_action(asked))
        return Response(bodies.PoolNode(_node(request, node_id)).data)


class LaneActionsView(APIView):
    write_scope = TokenScope.POOL

    @extend_schema(request=bodies.LaneAction, responses=bodies.PoolLane)
    def post(self, request: Request, lane_id: int) -> Response:
        """Cordon or resume one lane; a run that holds it keeps it. For pool admins."""
        asked = checked(bodies.LaneAction(data=request.data))
        lane = get_object_or_404(Lane, pk=lane_id)
        act(user=user_of(request), on=lane, **_action(asked))
        return Response(bodies.PoolLane(_lane(request, lane_id)).data)


def _action(asked: dict[str, Any]) -> dict[str, Any]:
    """What is to be done, as arguments of `act`."""
    return {"action": PoolAction(asked["action"]), "reason": asked["reason"], "until": asked["until"]}


def _page(rows: list[NodeRow]) -> Response:
    return Response({"next": None, "results": bodies.PoolNode(rows, many=True).data})


def _node(request: Request, node_id: int) -> NodeRow:
    row = node_row(user_of(request), node_id)
    if row is None:
        raise Http404("no such node")
    return row


def _gpu(request: Request, gpu_id: int) -> GpuRow:
    row = gpu_row(user_of(request), gpu_id)
    if row is None:
        raise Http404("no such GPU")
    return row


def _lane(request: Request, lane_id: int) -> LaneRow:
    row = lane_row(user_of(request), lane_id)
    if row is None:
        raise Http404("no such lane")
    return row


def _annotate(request: Request, on: Node | Gpu, asked: Mapping[str, Any]) -> None:
    takes_price_away = "price_per_gpu_hour" in asked and asked["price_per_gpu_hour"] is None
    annotate(user=user_of(request), on=on, **asked, without_price=takes_price_away)
