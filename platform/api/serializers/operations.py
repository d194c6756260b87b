"""Operations: the requests for lists of them."""

from rest_framework import serializers

from api.serializers.bounded import name_to_find, some_of
from api.serializers.pool_history import PageQuery
from operations.operation_body import OperationState
from runs.operation_ids import OperationKind

ORDERS = ["-created_at", "created_at"]


class OperationsQuery(PageQuery):
    kind = some_of("One kind or several", [kind.value for kind in OperationKind])
    state = some_of("One state or several", [state.value for state in OperationState])
    run = serializers.UUIDField(required=False, help_text="Only those that concern this run.")
    project = serializers.UUIDField(required=False, help_text="Only those of this project.")
    mine = serializers.BooleanField(default=False, help_text="Whether to list only those that you asked for.")
    request_id = name_to_find(required=False, help_text="Only those that the request of this `X-Request-ID` began.")
    order = serializers.ChoiceField(ORDERS, default=ORDERS[0], help_text="Default: the newest first.")
