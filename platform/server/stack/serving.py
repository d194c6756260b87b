"""The loop of `up` and `demo`: reads the supervisor's events and follows the run until a stop signal."""

import time

from rich.console import Console

from runs.models import Run
from server.environment import env
from server.stack.demo import DemoProgress, create_demo_run, print_summary
from server.stack.screen import Screen, greet, screen
from server.stack.starting import Started, started_stack
from server.stack.stopping import StopRequested, stop_signals

POLL_SECONDS = 0.5


def serve(console: Console, *, preset: str | None = None) -> int:
    """Start the stack, with `preset` also a demo run, and serve until a stop signal; returns the exit code.

    With `TANDEM_ONESHOT=1` it ends with the demo run: 0 if that completed, 1 if not.

    Raises:
        CannotStartError: the stack could not start, or could not go on.
    """
    one_shot = env.bool("TANDEM_ONESHOT", False)
    exit_code = 0
    with stop_signals():
        try:
            with started_stack(console) as started:
                greet(console, started)
                if preset is not None:
                    completed = follow_demo(console, started, preset)
                    if one_shot:
                        return 0 if completed else 1
                keep_serving(console, started)
        except StopRequested as request:
            console.print(f"\nStopped by {request}; everything has ended.")
            # A stop signal is the normal end of serving, but interrupts a demo run that was to be awaited.
            exit_code = 1 if one_shot and preset is not None else 0
    return exit_code


def keep_serving(console: Console, started: Started) -> None:
    with screen(console) as shown:
        while True:
            started.stack.listen(POLL_SECONDS)
            shown.show(started.stack.states)


def follow_demo(console: Console, started: Started, preset: str) -> bool:
    """Run the preset to its end; returns whether it completed."""
    run = create_demo_run(preset, user=started.admin, project=started.project)
    console.print(f"Run [bold]{run.name}[/bold]: {run.batch_algebra.describe()}", soft_wrap=True)
    with screen(console) as shown:
        finished = _follow(shown, started, DemoProgress(run))
    return print_summary(console, finished)


def _follow(shown: Screen, started: Started, progress: DemoProgress) -> Run:
    while True:
        snapshot = progress.update()
        if shown.is_live:
            shown.show(started.stack.states, progress.bar)
        else:
            shown.show(started.stack.states)
            progress.print_change(shown.console, snapshot)
        if snapshot.run.has_ended:
            return snapshot.run
        deadline = time.monotonic() + 2 * POLL_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            started.stack.listen(left)
