"""The predictions that a run's algorithm needs, for sampling and for each unit of training."""

from dataclasses import dataclass

from worker.contracts.algorithms import RewardFlowSpec
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, StaleClip
from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPasses:
    """What one prediction takes."""

    rows: int = 1
    """Samples that go through the transformer for one prediction: two with true CFG, conditional and unconditional."""
    calls: int = 1
    """Calls of the transformer for one prediction: two with true CFG, or one for both rows where they are batched."""

    @classmethod
    def of(cls, spec: RunSpec, *guidance_scales: float | None) -> "ForwardPasses":
        """A prediction under these guidance scales, one for each expert; `None` stands for the first one's."""
        is_guided = any(scale not in (None, 1.0) for scale in guidance_scales)
        if FAMILY_TRAITS[spec.base_model.family].guidance is not GuidanceKind.TRUE_CFG or not is_guided:
            return cls()
        return cls(rows=2, calls=1 if spec.sampling.batched_cfg else 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmPasses:
    """The predictions that an algorithm needs. Those for monitoring alone (the replay gate, a KL that nothing trains
    on) are left out: 3 % of a pass."""

    sampling: ForwardPasses = ForwardPasses()
    """A prediction under the guidance of rollout."""
    training: ForwardPasses = ForwardPasses()
    """A prediction under the guidance of the trained policy."""
    num_scored: int = 0
    """Predictions per trajectory that evaluate its log-probs under the guidance of training, where that is not the
    guidance of rollout."""
    num_trained: int = 1
    """Predictions with a gradient per unit of training: two for the samples of a preference, or one for each of several
    denoising steps."""
    num_judged: int = 0
    """Predictions without a gradient per unit of training: by the reference policy, by an older policy."""
    num_proximal: float = 0.0
    """Predictions without a gradient per unit of training of stale data: by the proximal policy, where its log-ratios
    neither follow from the pass itself nor were recorded; an average over the optimizer steps of a batch."""
    num_recomputed: float = 0.0
    """Predictions without a gradient per unit of training of fresh data, which recompute old log-probs: an average
    likewise."""
    goes_through_decoder: bool = False
    """The gradient comes from a reward, through the autoencoder's decoder."""

    @classmethod
    def of(cls, spec: RunSpec) -> "AlgorithmPasses":
        algorithm, sampling = spec.algorithm, spec.sampling
        needs = algorithm.needs
        is_scored = needs.log_probs and not sampling.trains_as_it_samples
        num_trained = 2 if spec.algebra.num_trained_members is not None else 1
        if isinstance(algorithm, RewardFlowSpec):
            num_trained = algorithm.num_gradient_steps
        return cls(
            sampling=ForwardPasses.of(spec, sampling.guidance_scale, sampling.guidance_scale_2),
            training=ForwardPasses.of(spec, sampling.training_guidance, sampling.training_guidance_2),
            num_scored=spec.algebra.num_trained_denoising_steps if is_scored else 0,
            num_trained=num_trained,
            num_judged=num_trained * (needs.reference + needs.second_adapter),
            num_proximal=_num_proximal(spec),
            num_recomputed=_share_replayed(spec, replays_means=needs.old_means) if spec.recomputes_log_probs else 0.0,
            goes_through_decoder=needs.differentiable_reward,
        )


def _num_proximal(spec: RunSpec) -> float:
    """Which passes replay the proximal policy: see `worker.engine.trainer.learners.proximal_record`."""
    algorithm = spec.algorithm
    if not algorithm.is_policy_gradient or spec.pipeline.stale_clip is not StaleClip.PROXIMAL:
        return 0.0
    return _share_replayed(spec, replays_means=algorithm.needs.proximal_means)


def _share_replayed(spec: RunSpec, *, replays_means: bool) -> float:
    """The share of a batch's optimizer steps that replay the weights before the first of them: all others where their
    means are needed, else the first ones of the other mini-batches."""
    algebra = spec.algebra
    num_steps = algebra.num_optimizer_steps_per_batch
    return (num_steps - 1 if replays_means else algebra.num_minibatches - 1) / num_steps
