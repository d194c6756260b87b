"""`batch.filter_groups` and `batch.max_resamples`: off by default, refused where groups of equal rewards teach too."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from worker.contracts.algorithms import ALGORITHM_SPECS
from worker.contracts.run_spec import RunSpec

PRESETS = sorted((Path(__file__).parents[2] / "deploy" / "presets").glob("*.yaml"))


def document(algorithm: str, **batch: Any) -> dict[str, Any]:
    sampling = {"sampling": {"sde_type": "dance"}} if algorithm == "dance_grpo" else {}
    return {
        "prompts": {"inline": [str(number) for number in range(8)]},
        "rewards": [{"name": "shape_match"}],
        "algorithm": {"name": algorithm},
        "batch": batch,
        **sampling,
    }


@pytest.mark.parametrize("name", ALGORITHM_SPECS)
@pytest.mark.parametrize(
    ("batch", "refused"),
    [
        ({"filter_groups": True}, {"diffusion_nft", "refl", "reward_flow"}),
        ({"max_resamples": 2}, {"refl", "reward_flow"}),
    ],
    ids=["filter", "resample"],
)
def test_each_is_refused_where_groups_of_equal_rewards_teach(
    name: str, batch: dict[str, Any], refused: set[str]
) -> None:
    if name not in refused:
        algebra = RunSpec.model_validate(document(name, **batch)).algebra
        assert {field: getattr(algebra, field) for field in batch} == batch
        return
    with pytest.raises(ValidationError, match="groups of equal rewards"):
        RunSpec.model_validate(document(name, **batch))


def test_draws_are_bounded() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 10"):
        RunSpec.model_validate(document("flow_grpo", max_resamples=11))


def test_the_algebra_says_what_happens_to_groups_without_spread() -> None:
    described = [
        RunSpec.model_validate(document("flow_grpo", **batch)).algebra.describe().rpartition("of up to 8")[2]
        for batch in ({}, {"filter_groups": True}, {"max_resamples": 1, "filter_groups": True}, {"max_resamples": 3})
    ]
    assert described == [
        "",
        "; groups without spread are not trained on",
        "; groups without spread are drawn again up to 1 time and not trained on",
        "; groups without spread are drawn again up to 3 times",
    ]


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_no_preset_turns_either_on(path: Path) -> None:
    batch = yaml.safe_load(path.read_text())["spec"].get("batch", {})
    assert not {"filter_groups", "max_resamples"} & set(batch)
