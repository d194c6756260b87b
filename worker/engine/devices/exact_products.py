"""Products of matrices in full precision of their dtype."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def exact_products() -> Iterator[None]:
    """Within it fp32 products use fp32 throughout, and products of bf16 are summed in fp32 alone."""
    # cuBLAS may otherwise add partial sums in bf16, which no bound on the rounding of one sum holds for.
    matmul = torch.backends.cuda.matmul
    reduced, precision = matmul.allow_bf16_reduced_precision_reduction, torch.get_float32_matmul_precision()
    matmul.allow_bf16_reduced_precision_reduction = False
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        matmul.allow_bf16_reduced_precision_reduction = reduced
        torch.set_float32_matmul_precision(precision)
