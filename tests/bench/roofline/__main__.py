"""`python -m tests.bench.roofline` (`make bench-roofline`): the model-FLOPs utilisation of FLUX.1 with a LoRA on an
H100, by arithmetic on traced operations, before and after each change that was made for it.

    seconds = operations of products ÷ PRODUCT_FLOPS + of attention ÷ its rate + bytes of all else ÷ MEMORY_BANDWIDTH
    MFU = FLOPs of the model ÷ (seconds × the maker's peak)

Launching is left out, and what a compiler makes is the best that it can (`fused_chains`). Nothing here ran on a card:
it is the yardstick that `make bench-gpu` is read against.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.engine_mfu import pair_flops, utilisation
from tests.bench.roofline.fused_chains import fused
from tests.bench.roofline.passes import TracedPass, traced
from tests.bench.roofline.traced_kernels import Kernel, KernelKind
from tests.scheduling.profiles.published_models import PUBLISHED
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory import MemoryRole, recomputing_on
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import H100
from worker.scheduling.profiles.image_models import FLUX

PRODUCT_FLOPS = 650e12
"""Operations per second of a large bf16 product on an H100 SXM: two thirds of its peak, an estimate for the first card
(`ceilings` of `make bench-gpu` measures it)."""
MEMORY_BANDWIDTH = 2.6e12
"""Bytes per second of element-wise kernels there, of 3.35e12 in the data sheet: the like."""
FLASH_ATTENTION_FLOPS = 0.35 * H100.peak_flops
"""FlashAttention-2, PyTorch's own, reaches 35 % of an H100 (Shah et al., FlashAttention-3, arXiv 2407.08608)."""
CUDNN_ATTENTION_FLOPS = 1.7 * FLASH_ATTENTION_FLOPS
"""cuDNN is 1.7 to 2.3 times as fast on Hopper (huggingface/transformers#48163)."""
BATCH = 3
"""The micro-batch of FLUX.1's presets."""
RANK = 32
FLUX_ID = "black-forest-labs/FLUX.1-dev"
SIDES = (512, 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pass in one form."""

    side: int
    work: str
    form: str
    seconds: float
    mfu: float
    num_kernels: int
    gigabytes: float
    """Read and written by what is no product and no attention."""


def seconds_of(kernels: Sequence[Kernel], attention_flops: float) -> float:
    """The arithmetic above."""
    rates = {KernelKind.PRODUCT: PRODUCT_FLOPS, KernelKind.ATTENTION: attention_flops}
    return sum(
        kernel.flops / rates[kernel.kind] if kernel.kind in rates else kernel.num_bytes / MEMORY_BANDWIDTH
        for kernel in kernels
    )


def rows(side: int) -> Iterator[Row]:
    """Generation and training at one size."""
    published = next(each for each in PUBLISHED if each.profile is FLUX)
    before, now = (
        {
            trains: traced(
                published,
                TracedPass(side=side, batch=BATCH, trains=trains, under_autocast=under_autocast),
                rank=RANK,
            )
            for trains in (False, True)
        }
        for under_autocast in (True, False)
    )
    compiled = {trains: fused(kernels) for trains, kernels in now.items()}
    recomputed = recomputed_share(side)
    for trains, work in ((False, "generation"), (True, "training")):
        flops = model_flops(side, trains=trains)
        # What recomputing all blocks costs is a forward pass, but for a few layers at either end.
        forms = (
            ("autocast, all blocks recomputed", before, before[trains], FLASH_ATTENTION_FLOPS, 1.0),
            ("bf16 throughout", now, now[trains], FLASH_ATTENTION_FLOPS, 1.0),
            ("recomputing what memory demands", now, now[trains], FLASH_ATTENTION_FLOPS, recomputed),
            ("cuDNN's attention", now, now[trains], CUDNN_ATTENTION_FLOPS, recomputed),
            ("compiled at best", compiled, compiled[trains], CUDNN_ATTENTION_FLOPS, recomputed),
        )
        for form, passes, kernels, attention, share in forms:
            again = share * seconds_of(passes[False], attention) if trains else 0.0
            seconds = seconds_of(kernels, attention) + again
            yield Row(
                side=side,
                work=work,
                form=form,
                seconds=seconds,
                mfu=utilisation(flops, seconds, H100.peak_flops),
                num_kernels=len(kernels),
                gigabytes=sum(each.num_bytes for each in kernels if each.kind is KernelKind.ELEMENT_WISE) / 1e9,
            )


def model_flops(side: int, *, trains: bool) -> float:
    """Operations that count for the MFU of a batch: recomputed ones do not."""
    num_tokens = FLUX.num_tokens(height=side, width=side, num_frames=1)
    return BATCH * (pair_flops(FLUX, num_tokens, Tuning.LORA) if trains else FLUX.forward_flops(num_tokens))


def recomputed_share(side: int) -> float:
    """The share of blocks that a trainer lane on an H100 recomputes by the memory plan, in a gang of four."""
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": [f"{number} lighthouses" for number in range(16)]},
            "base_model": {"path": FLUX_ID, "family": "flux", "dtype": "bf16"},
            "rewards": [{"name": "pick_score"}],
            "lora": {"rank": RANK, "alpha": 2.0 * RANK},
            "sampling": {"height": side, "width": side, "guidance_scale": 3.5},
            "batch": {"num_prompts_per_batch": 16, "group_size": 12, "micro_batch_size": BATCH},
            "lanes": {"num_rollout": 3, "num_trainer": 4},
            "deepspeed": {"config": "zero1"},
        }
    )
    work = recomputing_on(Workload.of(spec), H100, MemoryRole.TRAINER, num_ranks=4)
    return work.num_recomputed_layers / FLUX.num_layers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("var/bench/roofline.json"))
    arguments = parser.parse_args()
    print(f"FLUX.1, a LoRA of rank {RANK}, {BATCH} pictures at once, H100: arithmetic, nothing is measured")
    print(f"{'size':6}{'work':12}{'form':36}{'seconds':>9}{'MFU':>7}{'kernels':>9}{'GB beside products':>20}")
    found = []
    for side in SIDES:
        for row in rows(side):
            found.append(row)
            print(
                f"{row.side}² {row.work:12}{row.form:36}{row.seconds:9.3f}{row.mfu:7.0%}{row.num_kernels:9}"
                f"{row.gigabytes:20.0f}",
                flush=True,
            )
        print(f"      blocks recomputed where memory demands it: {recomputed_share(side):.0%}")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")
    print(f"\n{arguments.out}")


if __name__ == "__main__":
    main()
