"""The learner of a run, by what its algorithm trains on."""

from collections.abc import Callable
from typing import Any

from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import Feedback, ForwardProcess, PolicyGradient, Preference
from worker.engine.algorithms.registry import build_algorithm
from worker.engine.trainer.learners.base import Learner
from worker.engine.trainer.learners.forward_process import PreferenceLearner, SampleLearner
from worker.engine.trainer.learners.replay import ReplayLearner
from worker.engine.trainer.learners.reward_feedback import FeedbackLearner
from worker.engine.trainer.policy.policies import Policies


def build_learner(spec: RunSpec, policies: Policies, num_optimizer_steps: Callable[[], int]) -> Learner:
    """The learner for the spec's algorithm.

    Args:
        spec: the run's.
        policies: those of this rank.
        num_optimizer_steps: returns how many optimizer steps were taken so far; they seed the noise of the forward
            process.
    """
    algorithm: Any = build_algorithm(spec)
    needs = spec.algorithm.needs
    if needs.log_probs:
        gradient: PolicyGradient = algorithm
        return ReplayLearner(policies, gradient, needs, spec.sampling)
    if needs.differentiable_reward:
        feedback: Feedback = algorithm
        return FeedbackLearner(policies, feedback, needs, spec)
    if spec.algebra.num_trained_members is None:
        forward: ForwardProcess = algorithm
        return SampleLearner(policies, forward, spec, num_optimizer_steps)
    preference: Preference = algorithm
    return PreferenceLearner(policies, preference, spec, num_optimizer_steps)
