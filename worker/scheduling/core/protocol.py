"""Which event answers which action, and the error for every other event.

It is the contract of `messages`, in code. Invariant: an executor answers every action that occupies a lane, the trainer
gang or the publisher exactly once, with the event that the action's docstring names.
"""

from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Action,
    Commit,
    Committed,
    Event,
    Generate,
    Generated,
    Publish,
    Published,
    Pull,
    Pulled,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switch,
    Switched,
)


class ProtocolError(RuntimeError):
    """The executor applied an event that cannot have happened; the message names the event that was expected."""


def is_answer(event: Event, action: Action) -> bool:
    """Whether `event` reports that `action` is done."""
    match action:
        case Pull(lane, version):
            return event == Pulled(lane, version)
        case Switch(lane, to):
            return event == Switched(lane, to)
        case Generate(lane, fragments):
            return event == Generated(lane, tuple(fragment.key for fragment in fragments))
        case Score(lane, fragment):
            return isinstance(event, Scored) and (event.lane, event.key) == (lane, fragment.key)
        case Accumulate(lane, batch, minibatch, epoch, micro_batches):
            return event == Accumulated(lane, batch, minibatch, epoch, micro_batches)
        case Commit(batch, minibatch, epoch):
            return event == Committed(batch, minibatch, epoch)
        case Snapshot(_, version):
            return event == Snapshotted(version)
        case Publish(_, version):
            return event == Published(version)
        case _:
            return False
