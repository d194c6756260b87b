import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from pytest_django.fixtures import Settings

from catalog.base_models import resolve_base_model
from catalog.presets import get_preset, list_presets
from worker.contracts.names import ModelFamily, Placement, RewardDevice, Tuning
from worker.contracts.run_spec import RunSpec

SIZES = ("lora-1gpu", "lora-8gpu", "lora-32gpu")
FULL_SIZES = ("full-8gpu", "full-32gpu")


def test_every_shipped_preset_is_a_valid_spec_that_explains_itself() -> None:
    presets = list_presets()
    assert len({preset.name for preset in presets}) == len({preset.title for preset in presets}) == len(presets)
    for preset in presets:
        assert preset.description
        assert RunSpec.from_yaml(preset.spec.to_yaml()) == preset.spec


def test_a_preset_is_placed_by_the_planner_or_says_why_not() -> None:
    for preset in list_presets():
        lanes = preset.spec.lanes
        is_only_choice = lanes.num_rollout + lanes.num_trainer == 1
        is_planned = preset.spec.pipeline.placement is Placement.AUTO
        assert is_planned or is_only_choice or "the planner would" in preset.description, preset.name


def test_the_shapes_come_first_and_are_of_the_shipped_model() -> None:
    shapes = list_presets()[:3]
    assert [preset.name for preset in shapes] == ["shapes-demo", "shapes-long", "shapes-quick"]
    assert all(Path(resolve_base_model(preset.spec.base_model.path)).is_dir() for preset in shapes)


@pytest.mark.parametrize("family", ModelFamily, ids=str)
def test_every_family_has_presets_from_a_single_gpu_to_32(family: ModelFamily) -> None:
    presets = [get_preset(f"{family}-{size}") for size in SIZES]
    assert all(preset.spec.base_model.family is family for preset in presets)
    assert [num_gpus(preset.spec) for preset in presets] == [1, 8, 32]
    assert all(resolve_base_model(preset.spec.base_model.path) == preset.spec.base_model.path for preset in presets)


@pytest.mark.parametrize("family", ModelFamily, ids=str)
def test_every_family_has_presets_that_train_all_weights(family: ModelFamily) -> None:
    specs = [get_preset(f"{family}-{size}").spec for size in FULL_SIZES]
    assert all(spec.tuning is Tuning.FULL and spec.base_model.family is family for spec in specs)
    assert [num_gpus(spec) for spec in specs] == [8, 32]


def num_gpus(spec: RunSpec) -> int:
    lanes = spec.granted_lanes
    return lanes.num_rollout + lanes.num_trainer + (lanes.num_reward if lanes.rewards_on is RewardDevice.OWN_GPU else 0)


def test_the_variants_of_a_file_share_what_they_do_not_change() -> None:
    one, many = get_preset("sd3-lora-1gpu").spec, get_preset("sd3-lora-32gpu").spec
    assert one.sampling == many.sampling and one.prompts == many.prompts
    assert one.batch != many.batch
    assert one.pipeline.placement is Placement.COLOCATED and many.pipeline.placement is Placement.AUTO


def test_bounds_of_the_replay_gate_in_a_file_are_those_of_all_its_variants(tmp_path: Path, settings: Settings) -> None:
    """As `tests.bench.gpu.profile_values` prints them, to be written below `spec`."""
    shipped = Path(settings.TANDEM_PRESETS)
    shutil.copytree(shipped / "prompts", tmp_path / "prompts")
    for file in shipped.glob("*.yaml"):
        written = file.read_text().replace("\nspec:\n", "\nspec:\n  replay_gate: {max_rms_error: 0.0123}\n")
        (tmp_path / file.name).write_text(written)
    before, settings.TANDEM_PRESETS = list_presets(), tmp_path
    presets = list_presets()
    assert [preset.name for preset in presets] == [preset.name for preset in before]
    assert {preset.spec.replay_bounds.rms_error for preset in presets} == {0.0123}


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
    with pytest.raises(ValueError, match=r"the preset bad of bad\.yaml is not valid"):
        list_presets()


def test_presets_are_read_while_files_of_the_folder_come_and_go(tmp_path: Path, settings: Settings) -> None:
    """As where an editor saves one, or git brings others: a request beside it failed."""
    settings.TANDEM_PRESETS = tmp_path
    is_over = Event()

    def replace_files() -> None:
        for number in itertools.cycle(range(7)):
            if is_over.is_set():
                return
            draft = tmp_path / f"draft-{number}"
            draft.write_text("")
            draft.rename(tmp_path / "notes.txt").unlink()

    with ThreadPoolExecutor(1) as editor:
        editor.submit(replace_files)
        try:
            for _ in range(2000):
                assert list_presets() == []
        finally:
            is_over.set()
