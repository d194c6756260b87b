"""Patterns that are written to a device's free memory and read back.

```text
free memory ─► blocks ─► for each pattern: write all blocks ─► read all blocks and compare, on the device
```

All blocks are written before any is read, so that two addresses that reach the same cell show too: under the last
pattern every word holds another number. Alternating bits and their complements set and clear each cell beside
neighbours of the other value, as memory testers do.
"""

import time
from collections.abc import Iterator

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.gpu_test.outcomes import StepFailedError

WORD_BYTES = 8
BLOCK_BYTES = 256 * 2**20
"""Large enough that a block's launch costs nothing beside its transfer."""
SHARE = 0.9
"""Share of the free memory that is swept; the rest is for what the comparison needs."""
NUM_SPARE_BLOCKS = 3
"""Blocks' worth of memory that a comparison takes: the expected words, and which differ."""
BYTES_ON_CPU = 64 * 2**20
"""The host's memory is not what is tested: enough to run every line."""
CONSTANTS = (0, -1, 0x5555_5555_5555_5555, -0x5555_5555_5555_5556)
"""All bits clear, all set, every second one, the others."""
ODD = -0x61C8_8646_80B5_83EB
"""2⁶⁴ divided by the golden ratio, as a signed number. Multiplied by an odd number, different positions modulo 2⁶⁴ stay
different, and neighbours differ in half of their bits."""


def check_memory(device: torch.device, num_bytes: int | None = None, block_bytes: int = BLOCK_BYTES) -> str:
    """Sweep `num_bytes` of the device, by default nearly all that is free; returns how many, and how fast.

    Raises:
        StepFailedError: words were read that were not written, or there is less free memory than one block.
    """
    get_accelerator().empty_cache()
    # DeepSpeed's count of free memory reads device indices from the environment, and fails where it holds UUIDs.
    free = BYTES_ON_CPU if device.type == "cpu" else torch.accelerator.get_memory_info(device)[0]
    if num_bytes is None:
        num_bytes = free if device.type == "cpu" else int(free * SHARE) - NUM_SPARE_BLOCKS * block_bytes
    block_bytes = min(block_bytes, BYTES_ON_CPU) if device.type == "cpu" else block_bytes
    num_blocks, num_words = num_bytes // block_bytes, block_bytes // WORD_BYTES
    if num_blocks < 1:
        raise StepFailedError(f"only {free / 2**20:.0f} MiB of its memory are free: does another program use it?")
    began = time.perf_counter()
    blocks = [torch.empty(num_words, dtype=torch.int64, device=device) for _ in range(num_blocks)]
    try:
        problem = _sweep(blocks, num_words)
        get_accelerator().synchronize()
        seconds = time.perf_counter() - began
    finally:
        blocks.clear()
        get_accelerator().empty_cache()
    if problem:
        raise StepFailedError(problem)
    swept, num_patterns = num_blocks * block_bytes, len(CONSTANTS) + 1
    rate = 2 * num_patterns * swept / seconds / 1e9
    return f"{swept / 2**30:.3g} GiB held {num_patterns} patterns, written and read at {rate:.3g} GB/s"


def _sweep(blocks: list[torch.Tensor], num_words: int) -> str:
    """Write and compare every pattern. Returns how many words were wrong, and where the first was; empty for none."""
    num_wrong, first = 0, ""
    for number in range(len(CONSTANTS) + 1):
        for block, expected in zip(blocks, _expected(number, blocks, num_words), strict=True):
            block.copy_(expected)
        for index, (block, expected) in enumerate(zip(blocks, _expected(number, blocks, num_words), strict=True)):
            wrong = torch.ne(block, expected)
            found = int(wrong.sum())
            if found and not first:
                position = int(wrong.to(torch.uint8).argmax())
                read, written = int(block[position]), int(expected.expand_as(block)[position])
                offset = (index * num_words + position) * WORD_BYTES
                first = f"the first at byte {offset:#x}: {_hexadecimal(read)}, written was {_hexadecimal(written)}"
            num_wrong += found
    num_read = len(blocks) * num_words * (len(CONSTANTS) + 1)
    return f"{num_wrong} words of {num_read} were read wrongly, {first}" if num_wrong else ""


def _expected(number: int, blocks: list[torch.Tensor], num_words: int) -> Iterator[torch.Tensor]:
    """What each block is to hold under the pattern of this number, of one word or of `num_words`."""
    for index, block in enumerate(blocks):
        if number < len(CONSTANTS):
            yield torch.tensor(CONSTANTS[number], dtype=torch.int64, device=block.device)
        else:
            start = index * num_words
            yield torch.arange(start, start + num_words, dtype=torch.int64, device=block.device).mul_(ODD)


def _hexadecimal(word: int) -> str:
    return f"{word % 2**64:#018x}"
