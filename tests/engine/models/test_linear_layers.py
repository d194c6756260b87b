"""The committed list of linear layers is diffusers' own."""

import json

import pytest

from worker.contracts.lora_targets import LINEAR_LAYERS_FILE, linear_layers_of, lora_target_problem
from worker.contracts.names import ModelFamily
from worker.engine.models.registry import MODEL_ADAPTERS
from worker.fixtures.tiny_models.linear_layers import layers_of_families, linear_layers
from worker.fixtures.tiny_models.tiny_pipelines import TINY_PIPELINES


@pytest.mark.parametrize("family", list(ModelFamily))
def test_the_list_has_every_layer_of_the_tiny_model(family: ModelFamily) -> None:
    assert linear_layers(TINY_PIPELINES[family]().transformer) <= set(linear_layers_of(family))


@pytest.mark.parametrize("family", list(ModelFamily))
def test_the_targets_by_default_are_layers(family: ModelFamily) -> None:
    assert lora_target_problem(family, tuple(MODEL_ADAPTERS[family].default_lora_targets)) is None


@pytest.mark.slow
def test_the_list_is_what_diffusers_has() -> None:
    assert json.loads(LINEAR_LAYERS_FILE.read_text()) == layers_of_families()
