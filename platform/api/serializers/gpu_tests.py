"""Tests of GPUs."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import ModelAnswer, contract_field
from api.serializers.bounded import cursor, page_limit
from fleet.health.upkeep import MAX_REASON_CHARS
from fleet.models import GpuTest
from runs.operation_ids import OperationKind, operation_id
from worker.contracts.gpu_tests import GpuTestStep


class GpuTestBody(ModelAnswer):
    """A test that a GPU must pass before it takes work again."""

    peer = serializers.SerializerMethodField(help_text="Name of the GPU that the all-reduce is with; empty for none.")
    operation = serializers.SerializerMethodField(help_text="Its operation: `GET /operations/{id}`.")
    steps = serializers.ListField(child=contract_field(GpuTestStep), help_text="Each step that has ended, in order.")

    class Meta:
        model = GpuTest
        fields = [
            "id",
            "state",
            "requested_by",
            "created_at",
            "started_at",
            "ended_at",
            "peer",
            "steps",
            "reason",
            "num_repeats",
            "operation",
        ]
        extra_kwargs = {
            "started_at": {"help_text": "When its job was submitted."},
            "reason": {"help_text": "Why it failed, or what it waits for."},
            "num_repeats": {"help_text": "Tests before it whose jobs the cluster lost."},
        }

    def get_operation(self, test: GpuTest) -> str:
        return operation_id(OperationKind.GPU_TEST, test.pk)

    def get_peer(self, test: GpuTest) -> str:
        return test.peer.name if test.peer else ""


class GpuTestsQuery(serializers.Serializer[Any]):
    cursor = cursor()
    limit = page_limit("Tests")


class GpuTestRequest(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON_CHARS, help_text="Shown to everybody.")
