"""The bytes of a run that Ray's object store of one node holds at once.

    versions       from their publishing until no lane may pull them any more
    trajectories   of the open batches, until they are trained: later epochs read them again
    samples        of the same batches as uint8, of the batch before until its files are written, and of an evaluation

Values stay on the node of the lane that returned them, so a node holds the share of a batch that its lanes generate,
and a version as far as its lanes pull it. Invariant: it is the most that a node of so many lanes may hold, whichever
lanes of the run lie there; fewer lanes never hold more.
"""

from dataclasses import dataclass

from worker.contracts.algorithms import DanceGrpoSpec
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.trainer_state import FP32_BYTES
from worker.scheduling.planning.workload import Workload

_CHANNELS = 3
"""Bytes of a pixel: red, green and blue as uint8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """Bytes in the object store of one node, by what they are."""

    versions: float
    """Published weights."""
    trajectories: float
    samples: float
    """Pictures or clips on their way to reward lanes, and until they are reported."""

    @property
    def total(self) -> float:
        return self.versions + self.trajectories + self.samples


def store_contents(spec: RunSpec, work: Workload, *, num_lanes: int | None = None) -> StoreContents:
    """What a node with `num_lanes` lanes holds at most; without them, a node that has all lanes of the run."""
    algebra, num_batches = spec.algebra, spec.pipeline.max_staleness + 1
    share = _share_generated(spec, num_lanes)
    num_samples = num_batches * algebra.num_trajectories + spec.max_evaluated_samples
    # Those that are being written as files keep their fragments' memory while the next batch is generated.
    num_samples += algebra.num_trajectories if spec.stored_samples.num_per_batch else 0
    sample = work.num_pixels * _CHANNELS
    return StoreContents(
        # A version joins those of the open batches before the oldest of them is dropped.
        versions=(num_batches + 1) * work.published_bytes,
        trajectories=share * num_batches * algebra.num_trajectories * trajectory_bytes(spec, work),
        samples=share * num_samples * sample,
    )


def trajectory_bytes(spec: RunSpec, work: Workload) -> float:
    """Bytes of one trajectory as it is sent, in mean over a batch: latents in fp32, and their log-probs."""
    latents = work.num_tokens * work.profile.token_channels * FP32_BYTES
    log_probs = FP32_BYTES * spec.algebra.num_trained_denoising_steps if spec.algorithm.needs.log_probs else 0
    return latents * _num_latents(spec) + log_probs


def _num_latents(spec: RunSpec) -> float:
    """States, means and the finished sample, each the size of a sample's latents."""
    needs, num_trained = spec.algorithm.needs, spec.algebra.num_trained_denoising_steps
    number = 1.0 if needs.clean_latents else 0.0
    if needs.log_probs:
        # The state before each step and after the last: consecutive steps share those between them.
        is_apart = isinstance(spec.algorithm, DanceGrpoSpec)
        number += min(2 * num_trained, len(spec.sampling.sde_indices) + 1) if is_apart else num_trained + 1
        # The replay gate reads the means of the first mini-batch.
        number += num_trained * (1.0 if needs.old_means else 1.0 / spec.algebra.num_minibatches)
    elif needs.states:
        number += 1.0
    return number


def _share_generated(spec: RunSpec, num_lanes: int | None) -> float:
    """The share of a batch that the lanes of a node generate, where all generate alike. Lent lanes only take from the
    others."""
    lanes = spec.granted_lanes
    num_generating = lanes.num_rollout or lanes.num_trainer
    return 1.0 if num_lanes is None else min(1.0, num_lanes / num_generating)
