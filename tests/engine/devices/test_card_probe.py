"""The probe of a card prints figures of what it measured."""

import time

import pytest
import torch

from worker.contracts.node_reports import CardFigures
from worker.engine.devices import card_probe


def test_the_figures_are_those_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_probe, "SECONDS_OF_EACH", 0.05)
    figures = card_probe.measured(torch.device("cpu"))
    assert CardFigures.model_validate_json(figures.model_dump_json()) == figures
    left, right = (torch.randn(256, 256) for _ in range(2))
    rates = []
    for _ in range(20):
        began = time.perf_counter()
        torch.mm(left, right)
        rates.append(2 * 256**3 / (time.perf_counter() - began))
    # The same product by another clock. Others use the machine, and of one product they may take all seconds but its
    # own; what this tells is a unit, or products that are counted wrongly.
    assert max(rates) / 100 < figures.fp32_flops < max(rates) * 100
