"""A recipe of flow_grpo becomes a spec; what could not be carried is listed, whatever it is."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from catalog.imports.config_source import Unknown, function_names, read_configuration
from catalog.imports.flow_grpo_recipes import BASE, import_flow_grpo
from catalog.imports.imported import MAX_CHARACTERS, ImportRefused
from tests.web.catalog.flow_grpo_samples import PROMPTS, RECIPES
from worker.contracts.run_spec import RunSpec


def test_the_recipe_of_the_paper_is_the_spec_of_the_paper() -> None:
    found = import_flow_grpo(RECIPES, "ocr_sd3")
    spec = RunSpec.model_validate({**found.document, "prompts": {"inline": PROMPTS}})
    assert (spec.batch.num_prompts_per_batch, spec.batch.group_size, spec.batch.num_minibatches) == (48, 24, 2)
    assert (spec.sampling.height, spec.sampling.num_denoising_steps, spec.sampling.num_sde_steps) == (512, 10, 9)
    assert (spec.lora.rank, spec.lora.alpha, spec.base_model.family, spec.base_model.dtype) == (32, 64, "sd3", "bf16")
    assert [(reward.name, reward.weight) for reward in spec.rewards] == [("ocr", 1.0)]
    assert (spec.ema.decay, spec.optimizer.learning_rate, spec.seed) == (0.9, 3e-4, 42)
    carried = {one.path: (one.value, one.source) for one in found.carried}
    assert carried["algorithm.kl_coefficient"] == (0.04, "train.beta")
    assert carried["algorithm.advantage_std"] == ("batch", "sample.global_std")


def test_what_has_no_place_is_listed_with_its_reason() -> None:
    left = {one.source: (one.value, one.why) for one in import_flow_grpo(RECIPES, "ocr_sd3").left_out}
    assert left.keys() == {"reward_fn", "dataset", "sample.brand_new_option"}
    assert "geneval" in left["reward_fn"][1]
    assert left["dataset"][0] == "./dataset/pickscore"
    assert left["sample.brand_new_option"] == ([1, 2], "no setting of a run corresponds to it")


def test_every_setting_is_carried_ignored_or_left_out() -> None:
    """By names that nobody foresaw, at every place."""
    sections = ("", "sample.", "train.", "nobody.knows.")
    more = "\n".join(f"    config.{section}new_{number} = {number}" for number, section in enumerate(sections))
    source = f"def recipe():\n    config = base.get_config()\n{more}\n    return config"
    left = {one.source for one in import_flow_grpo(source, "recipe").left_out}
    assert {"new_0", "sample.new_1", "train.new_2", "nobody.knows.new_3"} <= left


def test_a_value_that_cannot_be_read_is_left_to_the_user() -> None:
    found = import_flow_grpo(RECIPES, "video", num_gpus=8)
    sampling = found.document["sampling"]
    assert (sampling["height"], sampling["width"], sampling["num_frames"]) == (240, 416, 33)
    assert found.document["base_model"] == {"path": "Wan2.1-T2V-1.3B-Diffusers", "family": "wan", "dtype": "bf16"}
    (unread,) = [one for one in found.left_out if one.source == "train.learning_rate"]
    assert unread.value == "pick_a_rate()"


def test_the_functions_of_a_file_are_offered() -> None:
    assert function_names(RECIPES) == ["plain", "ocr_sd3", "video"]
    with pytest.raises(ImportRefused, match="no configuration `sd3`; it has plain, ocr_sd3, video"):
        import_flow_grpo(RECIPES, "sd3")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def a(:", "line 1"),
        ("def a():\n    return a()", "in a circle"),
        ("def a():\n    return 1", "returns no configuration"),
        ("def a():\n    if True:\n        pass\n    return {}", "line 2: a configuration with branches"),
        ("x" * (MAX_CHARACTERS + 1), "characters"),
        ("def a():\n    c = base.get_config()\n    c.x = " + "-" * 5000 + "1\n    return c", "deeply|no Python"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(source: str, why: str) -> None:
    with pytest.raises(ImportRefused, match=why):
        read_configuration(source, "a", BASE)


def test_nothing_of_a_file_is_executed() -> None:
    lines = ("c = base.get_config()", "c.x = __import__('os').system('true')", "c.y = open('/etc/passwd').read()")
    source = "\n    ".join(("def a():", *lines, "return c"))
    settings = read_configuration(source, "a", {})
    assert settings == {"x": Unknown("__import__('os').system('true')"), "y": Unknown("open('/etc/passwd').read()")}


def test_numbers_that_grow_without_end_are_not_computed() -> None:
    lines = ("c = base.get_config()", "n = 10", *["n = n * n"] * 60, "c.x = n", "return c")
    settings = read_configuration("\n    ".join(("def a():", *lines)), "a", {})
    assert isinstance(settings["x"], Unknown)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(source: str) -> None:
    with suppress(ImportRefused):
        read_configuration(source, "a", BASE)


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*BASE, "frames", "height", "sample.sde_window_range"]), LITERALS, max_size=6))
@example({"sample.sde_window_range": 5, "sample.sde_window_size": 2})
@example({"sample.sde_window_range": [True, 4]})
@example({"train.timestep_fraction": -1.7e308, "sample.num_steps": 40})
@example({"reward_fn": {3: 1, "ocr": True}})
@example({"sample.train_batch_size": 1e308})
def test_values_of_any_kind_are_carried_as_json_or_left_out(values: dict[str, Any]) -> None:
    lines = "\n".join(f"    config.{name} = {_as_source(value)}" for name, value in values.items())
    found = import_flow_grpo(f"def recipe():\n    config = base.get_config()\n{lines}\n    return config", "recipe")
    left = [(one.source, one.value, one.why) for one in found.left_out]
    json.dumps([found.document, [(one.path, one.value, one.source) for one in found.carried], left], allow_nan=False)


def _as_source(value: Any) -> str:
    """The value as Python source; what is not finite has no literal."""
    return repr(value).replace("inf", "1e999").replace("nan", "1e999 - 1e999")
