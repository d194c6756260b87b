# Written by `generate.py` from `asynchronous/retention_calls.py`.
"""`client.retention`."""

from uuid import UUID

from tandem import rest_models
from tandem.synchronous.operation_calls import Operation, read_operation
from tandem.synchronous.session import Session
from tandem.protocol import API


class Retention:
    """What is kept for how long, and what is past its days. It needs a pool admin's token with the scope `pool`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def policy(self) -> rest_models.Retention:
        """For how long each kind of data is kept."""
        return rest_models.Retention.model_validate(self._session.get(f"{API}/retention"))

    def preview(self) -> rest_models.DeletionPreview:
        """What would be deleted now, by kind and run; nothing is deleted."""
        answer = self._session.post(f"{API}/retention:preview", None)
        return rest_models.DeletionPreview.model_validate(answer)

    def delete(self, preview: UUID | str) -> Operation:
        """Delete what a preview, named by its id, showed, and nothing else; `wait()` waits until that is done.

        Raises:
            Conflict: a run has more by now, or another deletion is under way.
        """
        answer = self._session.post(f"{API}/retention:delete", {"preview": str(preview)})
        return read_operation(self._session, answer["operation"])
