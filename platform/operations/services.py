"""Cancels operations, by the service of the app that does the work, which tells the audit log."""

from django.db import transaction

from accounts.models import User
from operations.operation_body import UNDER_WAY, OperationBody
from operations.operation_source import OperationConflict, state_of
from operations.selectors import find, operation


@transaction.atomic
def cancel_operation(*, user: User, operation_id: str) -> OperationBody:
    """The operation as it is then. Raises `NotVisible`, `PermissionDenied`; `OperationConflict` for one that has ended,
    or that is not taken back."""
    source, row = find(user, operation_id)
    source.require(user, row)
    state = state_of(row)
    if state not in UNDER_WAY:
        raise OperationConflict(state, f"the operation has ended already, as {state}")
    source.cancel(user, row)
    return operation(user, operation_id)
