"""What remote scorers need beside the spec: their tokens, and the hosts that an administrator allows."""

from typing import Annotated

from pydantic import Field

from worker.contracts.base import Contract

SCORER_HOSTS_SETTING = "TANDEM_SCORER_HOSTS"


class ScorerAccess(Contract):
    """It is held in memory only: never in an environment, a file or an event."""

    tokens: Annotated[dict[str, str], Field(repr=False)] = {}
    """Tokens of remote scorers by name, only those that the spec names."""
    hosts: tuple[str, ...] = ()
    """Hosts where scorers may be though they are private, or without TLS (`TANDEM_SCORER_HOSTS`)."""


NO_ACCESS = ScorerAccess()
"""To no token and no private host."""
