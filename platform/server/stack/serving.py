"""The course of `up` and `demo`: start the stack, do work in it, serve until a stop signal."""

from collections.abc import Callable

from rich.console import Console

from server.environment import env
from server.stack.screen import greet, screen
from server.stack.starting import Started, started_stack
from server.stack.stopping import StopRequested, stop_signals

POLL_SECONDS = 0.5

Work = Callable[[Console, Started], bool]
"""What the stack is started for: returns whether it was completed."""


def serve(console: Console, work: Work | None = None) -> int:
    """Start the stack, do `work` in it, and serve until a stop signal; returns the exit code.

    With `TANDEM_ONESHOT=1` it ends with the work: 0 if that was completed, 1 if not.

    Raises:
        CannotStartError: the stack could not start, or could not go on.
    """
    one_shot = env.bool("TANDEM_ONESHOT", False)
    exit_code = 0
    with stop_signals():
        try:
            with started_stack(console) as started:
                greet(console, started)
                if work is not None:
                    completed = work(console, started)
                    if one_shot:
                        return 0 if completed else 1
                keep_serving(console, started)
        except StopRequested as request:
            console.print(f"\nStopped by {request}; everything has ended.")
            # A stop signal is the normal end of serving, but interrupts work that was to be awaited.
            exit_code = 1 if one_shot and work is not None else 0
    return exit_code


def keep_serving(console: Console, started: Started) -> None:
    with screen(console) as shown:
        while True:
            started.stack.listen(POLL_SECONDS)
            shown.show(started.stack.states)
