"""How often the client looks at what goes on."""

import math
import time
from collections.abc import Iterator

FIRST_SECONDS = 0.25
"""What has just been started often ends, or begins, at once."""
RUN_SECONDS = 2.0
"""A batch takes seconds to minutes, and a minute of polling is 30 of a token's 1,200 requests."""


def poll_waits(longest: float = RUN_SECONDS, timeout: float | None = None) -> Iterator[float]:
    """Seconds to wait before each further look: few at first, twice as many each time, at most `longest`. Ends
    `timeout` seconds after the first is asked for."""
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    wait = FIRST_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        yield min(wait, left)
        wait = min(2 * wait, longest)
