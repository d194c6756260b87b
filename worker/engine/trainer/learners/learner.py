"""How a trainer rank goes from a complete group to the loss of a micro-batch, whatever the algorithm trains on."""

from collections.abc import Callable
from typing import Any, Protocol

from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import Feedback, ForwardProcess, PolicyGradient, Preference
from worker.engine.algorithms.registry import build_algorithm
from worker.engine.models.base import Conditioning
from worker.engine.trainer.learners.forward_process import PreferenceLearner, SampleLearner
from worker.engine.trainer.learners.replay import Gate, Replayed, Replayer
from worker.engine.trainer.learners.reward_feedback import FeedbackLearner
from worker.engine.trainer.policy.policies import Policies
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


class PreparedGroup(Protocol):
    """A group made ready to be cut into micro-batches; its length is its number of units."""

    @property
    def prompt(self) -> str: ...

    def __len__(self) -> int: ...

    def place(self, unit: int) -> str:
        """Where a unit lies, for an error message."""
        ...


class Learner(Protocol):
    def conditioning(self, prompt: str) -> Conditioning: ...

    def take(self, group: GroupBatch) -> Any:
        """The group as a `PreparedGroup`. Raises `ValueError` for parts that do not agree, `NonFiniteError` for an
        advantage that is not finite."""
        ...

    def __call__(
        self,
        held: Any,
        micro: MicroBatch,
        conditioning: Conditioning,
        /,
        *,
        gate: Gate,
        is_watched: bool,
        is_stale: bool,
    ) -> Replayed:
        """`held` is what `take` made; `is_watched` where this micro-batch stands for others in what trains nothing."""
        ...


def build_learner(spec: RunSpec, policies: Policies, num_optimizer_steps: Callable[[], int]) -> Learner:
    """What the spec's algorithm needs, and nothing else.

    Args:
        spec: the run's.
        policies: those of this rank.
        num_optimizer_steps: taken so far; they seed the noise of the forward process.
    """
    algorithm: Any = build_algorithm(spec)
    needs = spec.algorithm.needs
    if needs.log_probs:
        gradient: PolicyGradient = algorithm
        return Replayer(policies, gradient, needs, spec.sampling)
    if needs.differentiable_reward:
        feedback: Feedback = algorithm
        return FeedbackLearner(policies, feedback, needs, spec)
    if spec.algebra.num_trained_members is None:
        forward: ForwardProcess = algorithm
        return SampleLearner(policies, forward, spec, num_optimizer_steps)
    preference: Preference = algorithm
    return PreferenceLearner(policies, preference, spec, num_optimizer_steps)
