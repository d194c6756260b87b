"""What the pipeline's uncertain inputs may truly be: a plan is made on the costs as written, and judged on these.

    written        every input as written
    opposed        generation at one end of its range, training at the other, on all cards
    correlated     one draw for each input: all cards are off in the same way, and both efficiencies too
    independent    one draw for each card and input

Draws are a Latin hypercube over quantiles: of each input every equal part of its range is drawn once. Ranges are those
of `Estimate`, as triangles with the value on top; factors are even on a logarithmic scale. Invariant: the same truths
in every run and for every case.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tests.bench.pipeline_inputs import SCORER, TESTBEDS, Testbed
from worker.scheduling.planning.cost_estimates import PoolCosts, pool_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator, Estimate

NUM_DRAWS = 6
"""Draws of each kind: each sixth of every range is drawn once. More would make the bench take longer than 3 minutes of
two cores."""
_EFFICIENCIES = ("generation_efficiency", "training_efficiency")
_CARD_INPUTS = (*_EFFICIENCIES, "layer_overhead_seconds", "switch_seconds")
"""The uncertain fields of a card."""
_FACTORS = {"decoding": (0.5, 2.0), "scoring": (0.25, 4.0), "network": (0.5, 2.0)}
"""Ranges of factors on what was written down. The network is slower where collectives waste some of it, and seems
faster where weights are gathered beside computing."""
_SHARED_INPUTS = ("packing", *_FACTORS)
"""The uncertain inputs that are no card's."""


@dataclass(frozen=True, slots=True)
class TrueCosts:
    """One assumption of what the uncertain inputs truly are."""

    name: str
    """Its kind and number, `independent 3`."""
    quantiles: Mapping[tuple[str, str], float] = field(hash=False)
    """By (card or empty, input): where in its range the input lies, 0 to 1. Others are as written."""

    @property
    def kind(self) -> str:
        return self.name.split()[0]

    def costs(self, work: Workload, testbed: Testbed) -> PoolCosts:
        """The true costs of the work on a testbed."""
        profile, transfer = work.profile, work.weight_transfer
        if ("", "packing") in self.quantiles:
            packing = _at(transfer.packing_bandwidth, self.quantiles["", "packing"])
            transfer = replace(transfer, packing_bandwidth=packing)
        true_work = replace(
            work,
            profile=replace(
                profile, decoder_flops_per_pixel=profile.decoder_flops_per_pixel * self._factor("decoding")
            ),
            scoring=replace(
                work.scoring,
                flops=work.scoring.flops * self._factor("scoring"),
                bf16_flops=work.scoring.bf16_flops * self._factor("scoring"),
            ),
            weight_transfer=transfer,
        )
        cards = testbed.cards_for(work)
        true_card = {card: self.card(card) for card in set(cards)}
        devices = [true_card[card] for card in cards]
        return pool_costs(true_work, devices, num_reward=testbed.num_reward, scorer=SCORER)

    def card(self, card: Accelerator) -> Accelerator:
        """What a card truly is."""
        estimates = {
            name: _at(getattr(card, name), self.quantiles[card.name, name])
            for name in _CARD_INPUTS
            if (card.name, name) in self.quantiles
        }
        network = card.network_bandwidth * self._factor("network")
        return replace(card, network_bandwidth=network, **estimates)  # type: ignore[arg-type]

    def _factor(self, name: str) -> float:
        low, high = _FACTORS[name]
        quantile = self.quantiles.get(("", name))
        return 1.0 if quantile is None else low * (high / low) ** quantile


def _at(estimate: Estimate, quantile: float) -> Estimate:
    """The estimate with its value moved to a quantile of the triangle over its range."""
    low, mode, high = estimate.low, estimate.value, estimate.high
    if low == high:
        return estimate
    below = (mode - low) / (high - low)
    if quantile <= below:
        value = low + math.sqrt(quantile * (high - low) * (mode - low))
    else:
        value = high - math.sqrt((1 - quantile) * (high - low) * (high - mode))
    return replace(estimate, value=min(max(value, low), high))


def _cards() -> list[str]:
    return sorted({device.name for testbed in TESTBEDS for device in testbed.devices})


def _opposed() -> list[TrueCosts]:
    ends = ((1.0, 0.0, "opposed generation fast"), (0.0, 1.0, "opposed training fast"))
    return [
        TrueCosts(name, {(card, of): end for card in _cards() for of, end in zip(_EFFICIENCIES, both, strict=True)})
        for *both, name in ends
    ]


def _hypercube(num_inputs: int, rng: np.random.Generator) -> list[list[float]]:
    """[draw][input]: quantiles of which, for each input, every `NUM_DRAWS`-th part holds one."""
    parts = np.stack([rng.permutation(NUM_DRAWS) for _ in range(num_inputs)], axis=1)
    return ((parts + rng.random(parts.shape)) / NUM_DRAWS).tolist()


def _correlated(rng: np.random.Generator) -> list[TrueCosts]:
    inputs = ["efficiency", "layer_overhead_seconds", "switch_seconds", *_SHARED_INPUTS]
    drawn = []
    for number, quantiles in enumerate(_hypercube(len(inputs), rng)):
        of = dict(zip(inputs, quantiles, strict=True))
        own = {name: of.get(name, of["efficiency"]) for name in _CARD_INPUTS}
        by_input = {(card, name): quantile for card in _cards() for name, quantile in own.items()}
        shared = {("", name): of[name] for name in _SHARED_INPUTS}
        drawn.append(TrueCosts(f"correlated {number + 1}", by_input | shared))
    return drawn


def _independent(rng: np.random.Generator) -> list[TrueCosts]:
    inputs = [(card, name) for card in _cards() for name in _CARD_INPUTS] + [("", name) for name in _SHARED_INPUTS]
    return [
        TrueCosts(f"independent {number + 1}", dict(zip(inputs, quantiles, strict=True)))
        for number, quantiles in enumerate(_hypercube(len(inputs), rng))
    ]


_SEED = 1
TRUTHS = (
    TrueCosts("written", {}),
    *_opposed(),
    *_correlated(np.random.default_rng(_SEED)),
    *_independent(np.random.default_rng(_SEED)),
)
"""All truths that plans are judged by."""
