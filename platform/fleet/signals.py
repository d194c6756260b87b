"""Tells apps above when lanes may have become free, so that runs need not wait for the next round of dispatch."""

from django.db import transaction
from django.dispatch import Signal

lanes_available = Signal()
"""Sent after the commit that freed lanes, made some, or let some take work again. Carries nothing: whoever hears it
looks."""


def announce_lanes() -> None:
    """Send `lanes_available` once the current transaction has committed. A receiver that fails is logged and undoes
    nothing: the next round of dispatch finds the lanes too."""

    # Not a `partial`: Django names the function that failed, and a partial has no name.
    def send() -> None:
        lanes_available.send(sender=None)

    transaction.on_commit(send, robust=True)
