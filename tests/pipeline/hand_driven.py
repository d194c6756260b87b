"""A scheduler driven by hand, step by step, for claims about one moment of a run."""

from tests.pipeline.random_executor import reward_of
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role
from worker.pipeline.scheduler import Scheduler
from worker.pipeline.types import (
    Accumulate,
    Accumulated,
    Action,
    Commit,
    Committed,
    Event,
    Generate,
    Generated,
    LaneJoined,
    Publish,
    Published,
    Pull,
    Pulled,
    Score,
    Scored,
)


def answer(action: Action) -> Event:
    match action:
        case Pull(lane, version):
            return Pulled(lane, version)
        case Generate(lane, fragment):
            return Generated(lane, fragment.key)
        case Score(lane, fragment):
            return Scored(lane, fragment.key, tuple(reward_of(fragment.key, member) for member in fragment.members))
        case Accumulate(batch, minibatch, epoch, groups):
            return Accumulated(batch, minibatch, epoch, groups)
        case Commit(batch, minibatch, epoch):
            return Committed(batch, minibatch, epoch)
        case Publish(_, version):
            return Published(version)
        case _:
            raise AssertionError(f"{action} needs no answer")


class HandDriven:
    """Keeps what is under way in `actions`; `do` finishes one of them."""

    def __init__(
        self,
        algebra: BatchAlgebra,
        *,
        gap: bool = True,
        deterministic: bool = False,
        whole_batch_advantages: bool = False,
        num_batches: int = 2,
        lanes: tuple[tuple[str, Role], ...] = (("t", Role.TRAINER), ("g", Role.ROLLOUT), ("s", Role.REWARD)),
    ) -> None:
        self.scheduler = Scheduler(
            algebra,
            gap=gap,
            deterministic=deterministic,
            advantage_std="batch" if whole_batch_advantages else "group",
            first_batch=0,
            num_batches=num_batches,
            policy_version=0,
        )
        self.actions: list[Action] = []
        for lane, role in lanes:
            self.scheduler.apply(LaneJoined(lane, role, 0 if role is Role.ROLLOUT else None))
        self.start()

    def start(self) -> list[Action]:
        new = self.scheduler.next_actions()
        self.actions += new
        return new

    def apply(self, event: Event) -> list[Action]:
        self.scheduler.apply(event)
        return self.start()

    def do(self, kind: type[Action], lane: str | None = None) -> list[Action]:
        """Finish the first action of this kind (on this lane); returns what starts in its place."""
        chosen = next(a for a in self.actions if isinstance(a, kind) and lane in (None, getattr(a, "lane", None)))
        self.actions.remove(chosen)
        return self.apply(answer(chosen))

    def do_all(self, *kinds: type[Action]) -> None:
        """Finish actions of these kinds for as long as there are any."""
        while any(isinstance(action, kinds) for action in self.actions):
            self.do(next(type(action) for action in self.actions if isinstance(action, kinds)))
