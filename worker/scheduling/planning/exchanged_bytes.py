"""What the GPUs of a lane send each other, where its passes are spread over them.

In each layer q, k, v and the output of attention change from tokens to heads or back by an all-to-all, in which a GPU
keeps one of n parts of its tokens' values and sends the others: 4 · S/n · width · (n − 1)/n values (4·N·h/P in the
communication analysis of DeepSpeed-Ulysses, arXiv:2309.14509). Inputs and the prediction, a few values per token once a
pass, are left out: a layer exchanges thousands.
"""

from worker.scheduling.planning.workload import Workload


def bytes_of_trajectory(work: Workload, num_gpus: int) -> float:
    """Bytes that each of `num_gpus` sends to the others to generate one trajectory."""
    return work.num_sampled_rows * _bytes_of_pass(work, num_gpus)


def bytes_of_unit(work: Workload, num_gpus: int) -> float:
    """Bytes that each of `num_gpus` sends to the others for one unit of training: a backward pass exchanges the
    gradients of what its forward pass did."""
    recomputed = work.num_recomputed_layers / work.profile.num_layers
    num_passes = work.passes.num_trained * (2 + recomputed) + work.num_judged
    return work.passes.training.rows * num_passes * _bytes_of_pass(work, num_gpus)


def _bytes_of_pass(work: Workload, num_gpus: int) -> float:
    """Those of a forward pass of one row."""
    profile = work.profile
    tokens = work.num_tokens + (0 if profile.cross_attends else profile.text_tokens)
    of_layer = 4 * tokens / num_gpus * profile.width * work.weight_bytes * (num_gpus - 1) / num_gpus
    return profile.num_layers * of_layer
