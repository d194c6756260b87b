"""MixGRPO (arXiv 2507.21802): Flow-GRPO's loss in a stochastic window that moves as training goes on.

Strategy `progressive`: the window starts at the noisiest denoising steps, moves by `stride` every
`shift_every_num_batches`, and starts again after the last position. Strategy `random`: its position is drawn every
`shift_every_num_batches` (by the authors for every batch). All groups of a batch share the window. Defaults are those
of the authors' script for FLUX (github.com/Tencent-Hunyuan/MixGRPO): 4 denoising steps, moved by 1 every 25 iterations
(`prog_overlap_step`), starting again at the end.
"""

from dataclasses import replace

from worker.contracts.algorithms import MixGrpoSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps
from worker.engine.algorithms.flow_grpo_fast import window_from


def window(spec: MixGrpoSpec, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """The window of one batch within `sampling.sde_indices`."""
    last_start = len(sampling.sde_indices) - spec.window_size
    num_moves = position.batch // spec.shift_every_num_batches
    if spec.strategy == "random":
        start = replace(position, batch=num_moves).rng(of_batch=True).randint(0, last_start)
    else:
        num_positions = -(-last_start // spec.stride) + 1
        start = min(num_moves % num_positions * spec.stride, last_start)
    return window_from(sampling, start, spec.window_size)
