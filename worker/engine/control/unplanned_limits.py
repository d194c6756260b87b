"""How long work may stand still that no plan has a cost of: what it moves ÷ the slowest rate that a cluster may have.

```text
loading        weights of the model, or of all rewards, ÷ a part of the disk (of a hub id: + ÷ the line)
checkpoints    trained weights and optimizer state ÷ the disk, all ranks together
late prompts   text encoders, as loading, + operations of their passes ÷ one core
```

Each rate is an estimate of the worst that still lets a run work, so that what takes longer hangs.
"""

from worker.scheduling.planning.workload import Workload

LEAST_SECONDS = 300.0
"""What comes on top: imports from a busy disk, the device's context, joining a group and DeepSpeed's start."""
DISK_BANDWIDTH = 100e6
"""Bytes per second of a share over Ethernet of one gigabit per second, less a fifth for its protocols."""
READERS_AT_ONCE = 4
"""The number of nodes that read from that share at once. Lanes of one node read from its page cache after the first."""
DOWNLOAD_BANDWIDTH = 10e6
"""Bytes per second from a hub, over a line of 100 megabits per second."""
CORE_FLOPS = 10e9
"""Operations per second of one core in bf16 products without instructions for bf16: torch 2.13 on a virtual EPYC,
beside other work, where fp32 reaches 70e9 (28 November 2026)."""


def loading_limit(work: Workload, *, from_hub: bool) -> float:
    """Seconds of a lane that loads the whole model, `from_hub` by way of a download, or the networks of all rewards."""
    profile = work.profile
    parameters = profile.parameters + profile.text_encoder_parameters + profile.decoder_parameters
    model = _reading_seconds(parameters * work.weight_bytes, from_hub=from_hub)
    # Rewards name hub ids by default, whose files are in fp32 where they compute in bf16.
    rewards = _reading_seconds(2 * work.scoring.weight_bytes, from_hub=True)
    return LEAST_SECONDS + max(model, rewards)


def checkpoint_limit(work: Workload) -> float:
    """Seconds in which all ranks write or read a checkpoint, or write the weights of an export, which are less."""
    return LEAST_SECONDS + (work.state_bytes + work.trained_bytes) / DISK_BANDWIDTH


def encoding_limit(work: Workload, num_texts: int, *, from_hub: bool) -> float:
    """Seconds of encoding `num_texts` on one core of a node that has not loaded the text encoders yet."""
    text_flops = 2 * work.profile.text_encoder_parameters * work.longest_prompt
    reading = _reading_seconds(work.text_encoder_bytes, from_hub=from_hub)
    return LEAST_SECONDS + reading + num_texts * text_flops / CORE_FLOPS


def _reading_seconds(num_bytes: float, *, from_hub: bool) -> float:
    downloading = num_bytes / DOWNLOAD_BANDWIDTH if from_hub else 0.0
    return downloading + num_bytes * READERS_AT_ONCE / DISK_BANDWIDTH
