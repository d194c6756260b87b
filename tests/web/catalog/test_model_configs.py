"""A folder's own configs refuse what its model cannot draw, at the field to change, before a run is created."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog.model_configs import model_problems
from runs.spec_check import check_spec
from worker.contracts.run_spec import RunSpec

MakeSpec = Callable[..., RunSpec]


def folder_of(tmp_path: Path, index: dict[str, Any], **configs: dict[str, Any]) -> str:
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    for part, config in configs.items():
        (tmp_path / part).mkdir()
        (tmp_path / part / "config.json").write_text(json.dumps(config))
    return str(tmp_path)


def test_a_size_that_the_patches_do_not_divide_is_refused(tmp_path: Path, make_spec: MakeSpec) -> None:
    path = folder_of(
        tmp_path,
        {"_class_name": "WanPipeline", "expand_timesteps": True},
        transformer={"patch_size": [1, 2, 2]},
        vae={"scale_factor_spatial": 16},
    )
    spec = make_spec(base_model={"family": "wan22"}, sampling={"height": 704, "width": 720, "num_frames": 9})
    assert model_problems(spec, path) == {
        "sampling.width": "`sampling.width` must be a multiple of 32 for this model, got 720: take 704 or 736"
    }


def test_a_family_that_is_not_the_checkpoints_is_refused(tmp_path: Path, make_spec: MakeSpec) -> None:
    path = folder_of(tmp_path, {"_class_name": "ZImagePipeline"})
    problems = model_problems(make_spec(base_model={"family": "flux"}), path)
    assert list(problems) == ["base_model.family"]
    assert "must be z_image for `shapes`, got flux" in problems["base_model.family"]


def test_a_hub_model_and_a_folder_without_configs_have_no_problems(tmp_path: Path, make_spec: MakeSpec) -> None:
    assert model_problems(make_spec(), "org/name") == {}
    assert model_problems(make_spec(), folder_of(tmp_path, {"_class_name": "FluxPipeline"})) == {}


@pytest.mark.django_db
def test_validation_reports_the_problem_at_the_field(make_spec: MakeSpec) -> None:
    report = check_spec({**make_spec().model_dump(mode="json"), "base_model": {"path": "shapes", "family": "sd3"}})
    assert list(report.errors) == ["base_model.family"]
