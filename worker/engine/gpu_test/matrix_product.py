"""Products of matrices: right to within rounding, the same bits each time, and how fast.

The bound is Higham's for a sum of n products in any order, |fl(x·y) − x·y| ≤ γ_n |x|·|y| with γ_n = n·u / (1 − n·u)
(Accuracy and Stability of Numerical Algorithms, 2nd ed., §3.1). u is the distance of neighbouring fp32 numbers, twice
their unit roundoff, because tensor cores cut sums off instead of rounding them (Fasi et al. 2021, PeerJ
Computer Science 7:e330). A result stored in another dtype is rounded once more, by at most that dtype's unit roundoff.
"""

import time
from dataclasses import dataclass

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.devices.exact_products import exact_products
from worker.engine.gpu_test.outcomes import StepFailedError

DTYPES = (torch.float32, torch.bfloat16)
"""Those that runs compute in."""
NUM_REPEATS = 8
"""Products that must have the same bits: an intermittent fault shows in one of them."""
SEED = 0


@dataclass(frozen=True, slots=True)
class Sizes:
    num_rows: int
    """Rows and columns of the product that is compared with the CPU's."""
    sum_length: int
    """Products that each of its elements is the sum of: few, so that the bound is tight."""
    repeated: int
    """Rows and columns of the square matrices that are multiplied repeatedly."""


ON_ACCELERATOR = Sizes(num_rows=4096, sum_length=256, repeated=8192)
"""4096² elements are 512 tiles of 128 × 256, more than any GPU has processors, and cost the CPU 0.3 s; at 8192² the
largest GPUs reach their full rate."""
ON_CPU = Sizes(num_rows=256, sum_length=256, repeated=512)
"""A second of one core."""


def check_matrix_product(device: torch.device, sizes: Sizes | None = None) -> str:
    """Compare products on the device with the CPU's in float64, and with each other; returns their rates.

    Raises:
        StepFailedError: an element is further off than rounding explains, or a repeated product has other bits.
    """
    sizes = sizes or (ON_CPU if device.type == "cpu" else ON_ACCELERATOR)
    with exact_products(), torch.no_grad():
        for dtype in DTYPES:
            _compare_with_float64(device, dtype, sizes)
        rates = [f"{_name(dtype)} {_rate(device, dtype, sizes.repeated):.3g} TFLOP/s" for dtype in DTYPES]
    return f"{', '.join(rates)}; all products right to within rounding, and the same bits {NUM_REPEATS} times"


def _compare_with_float64(device: torch.device, dtype: torch.dtype, sizes: Sizes) -> None:
    generator = torch.Generator().manual_seed(SEED)
    left = torch.randn(sizes.num_rows, sizes.sum_length, generator=generator).to(dtype)
    right = torch.randn(sizes.sum_length, sizes.num_rows, generator=generator).to(dtype)
    found = torch.mm(left.to(device), right.to(device)).cpu().double()  # (num_rows, num_rows)
    exact_left, exact_right = left.double(), right.double()
    expected = torch.mm(exact_left, exact_right)
    bound = _rounding(dtype, sizes.sum_length, expected, torch.mm(exact_left.abs(), exact_right.abs()))
    # Written so that a NaN is wrong too.
    wrong = ~((found - expected).abs() <= bound)
    if num_wrong := int(wrong.sum()):
        row, column = wrong.nonzero()[0].tolist()
        raise StepFailedError(
            f"{num_wrong} of {wrong.numel()} elements of a product in {_name(dtype)} are wrong, the first in "
            f"row {row}, column {column}: {found[row, column]:.8g}, on the CPU {expected[row, column]:.8g}"
        )


def _rounding(dtype: torch.dtype, length: int, expected: torch.Tensor, magnitudes: torch.Tensor) -> torch.Tensor:
    """The most that each element may be off: `magnitudes` is |x|·|y| of the module's formula."""
    unit = torch.finfo(torch.float32).eps
    in_sum = length * unit / (1 - length * unit) * magnitudes
    return in_sum + torch.finfo(dtype).eps / 2 * (expected.abs() + in_sum)


def _rate(device: torch.device, dtype: torch.dtype, size: int) -> float:
    """TFLOP/s of the fastest of the repeated products. Raises `StepFailedError` when one has other bits."""
    left = torch.randn(size, size, device=device, dtype=dtype)
    right = torch.randn(size, size, device=device, dtype=dtype)
    first, seconds = torch.mm(left, right), list[float]()
    get_accelerator().synchronize()
    for number in range(NUM_REPEATS):
        began = time.perf_counter()
        again = torch.mm(left, right)
        get_accelerator().synchronize()
        seconds.append(time.perf_counter() - began)
        if not torch.equal(again, first):
            num_other = int((again != first).sum())
            raise StepFailedError(
                f"product {number + 2} of the same matrices in {_name(dtype)} has other bits in {num_other} of "
                f"{first.numel()} elements"
            )
    return 2 * size**3 / min(seconds) / 1e12


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
