"""MixGRPO (arXiv 2507.21802): Flow-GRPO's loss in a stochastic window that moves as training goes on.

Progressive: from the noisiest denoising steps, `stride` further every `shift_every_num_batches`, and from the start
again after the last place. Random: anew every `shift_every_num_batches` (the authors': with every batch). All groups of
a batch share the window. Defaults as in the authors' script for FLUX (github.com/Tencent-Hunyuan/MixGRPO): 4 denoising
steps, 1 further every 25 iterations (`prog_overlap_step`, by which their window moves), rolled back at the end.
"""

from dataclasses import replace

from worker.contracts.algorithms import MixGrpoSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps
from worker.engine.algorithms.flow_grpo_fast import steps_from


def window(spec: MixGrpoSpec, sampling: SamplingSpec, place: GroupPosition) -> GroupSteps:
    """The batch's window within `sampling.sde_indices`."""
    last_start = len(sampling.sde_indices) - spec.window_size
    num_moves = place.batch // spec.shift_every_num_batches
    if spec.strategy == "random":
        start = replace(place, batch=num_moves).dice(of_batch=True).randint(0, last_start)
    else:
        num_places = -(-last_start // spec.stride) + 1
        start = min(num_moves % num_places * spec.stride, last_start)
    return steps_from(sampling, start, spec.window_size)
