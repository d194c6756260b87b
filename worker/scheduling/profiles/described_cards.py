"""Cards without a profile of their own, described by what their node has read and measured of them.

The profile's name carries the figures, so that it goes wherever names of profiles go: into a plan's request, a run's
basis for re-planning, a replay. What was not measured is taken from the slowest of the profiles, never from the H100's.
"""

import re
from dataclasses import replace

from worker.contracts.node_reports import CardFigures
from worker.scheduling.profiles.hardware import GB, H20, H100, H200, L40S, Accelerator, Estimate

_NAME = re.compile(
    r"card of (?P<memory>[\d.]+) GB, (?P<bf16>[\d.]+|\?) bf16, (?P<fp32>[\d.]+|\?) fp32 TFLOPS, "
    r"(?P<bandwidth>[\d.]+|\?) GB/s"
)
_PROFILED = (L40S, H100, H200, H20)
EFFICIENCY = Estimate(0.5, 0.26, 0.8)
"""Share of a measured product's rate that forward and backward passes reach: from the lowest to the highest of the
profiled cards. Their shares are of data sheets' peaks, of which a measured rate is 0.7 to 0.8, so the middle is higher
than theirs."""


def card_name(memory_bytes: float, figures: CardFigures | None) -> str:
    """The profile name of a card with so much memory; without figures, nothing else is known of it."""
    bf16, fp32, bandwidth = "?", "?", "?"
    if figures is not None:
        bf16, fp32 = f"{figures.bf16_flops / 1e12:.1f}", f"{figures.fp32_flops / 1e12:.1f}"
        bandwidth = f"{figures.memory_bandwidth / GB:.0f}"
    return f"card of {memory_bytes / GB:.1f} GB, {bf16} bf16, {fp32} fp32 TFLOPS, {bandwidth} GB/s"


def described_card(name: str) -> Accelerator | None:
    """The device of a name that `card_name` made; `None` for any other name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    slowest = min(_PROFILED, key=lambda card: card.peak_flops * card.generation_efficiency.value)
    is_measured = found["bf16"] != "?"
    return replace(
        slowest,
        name=name,
        memory_bytes=float(found["memory"]) * GB,
        peak_flops=float(found["bf16"]) * 1e12 if is_measured else min(card.peak_flops for card in _PROFILED),
        fp32_flops=float(found["fp32"]) * 1e12 if is_measured else min(card.fp32_flops for card in _PROFILED),
        memory_bandwidth=(
            float(found["bandwidth"]) * GB if is_measured else min(card.memory_bandwidth for card in _PROFILED)
        ),
        host_bandwidth=min(card.host_bandwidth for card in _PROFILED),
        network_bandwidth=min(card.network_bandwidth for card in _PROFILED),
        link_bandwidth=min(card.link_bandwidth for card in _PROFILED),
        generation_efficiency=EFFICIENCY,
        training_efficiency=EFFICIENCY,
        source="its driver's memory; rates measured by its node for two seconds"
        if is_measured
        else "its driver's memory; rates of the slowest profiled cards until its node has measured it",
        efficiency_source="Both assumed: the range of the profiled cards.",
    )
