from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from catalog.presets import get_preset, list_presets
from catalog.selectors import resolve_base_model
from worker.contracts.run_spec import RunSpec


def test_every_shipped_preset_is_a_valid_spec_of_a_shipped_model() -> None:
    presets = list_presets()
    assert [preset.name for preset in presets] == ["shapes-demo", "shapes-long", "shapes-quick"]
    for preset in presets:
        assert preset.title
        assert preset.description
        assert RunSpec.from_yaml(preset.spec.to_yaml()) == preset.spec
        assert Path(resolve_base_model(preset.spec.base_model.path)).is_dir()


def test_the_demo_trains_one_minibatch_for_several_epochs_with_group_advantages() -> None:
    spec = get_preset("shapes-demo").spec
    assert spec.batch.num_minibatches == 1
    assert spec.batch.num_epochs_per_batch > 1
    assert spec.algorithm.advantage_std == "group"


def test_an_unknown_preset_is_refused_naming_those_there_are() -> None:
    with pytest.raises(LookupError, match="no preset `x`: choose one of shapes-demo"):
        get_preset("x")


def test_a_broken_preset_is_an_error_not_a_gap(tmp_path: Path, settings: Settings) -> None:
    settings.TANDEM_PRESETS = tmp_path
    (tmp_path / "bad.yaml").write_text("name: bad\norder: 1\ntitle: Bad\ndescription: x\nspec: {}\n")
    with pytest.raises(ValueError, match=r"the preset bad\.yaml is not valid"):
        list_presets()
