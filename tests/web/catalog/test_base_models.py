import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from catalog.base_models import FAMILY_OF_PIPELINE, ModelNotUsable, list_base_models, resolve_base_model
from worker.contracts.names import ModelFamily


def save_model(folder: Path, pipeline: str = "FluxPipeline", weights: str = "model.safetensors") -> Path:
    (folder / "transformer").mkdir(parents=True)
    (folder / "model_index.json").write_text(json.dumps({"_class_name": pipeline}))
    (folder / "transformer" / weights).write_bytes(b"")
    return folder


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    root = tmp_path / "models"
    root.mkdir()
    settings.TANDEM_MODEL_ROOTS = [root, tmp_path / "absent"]
    return root


def test_models_below_the_roots_are_found_by_name(root: Path) -> None:
    save_model(root / "shapes")
    (root / "shapes" / "README.md").write_text("---\nlicense: mit\n---\n# Shapes\n\nDraws shapes.\n")
    save_model(root / "team" / "flux-small")
    save_model(root / "sdxl", pipeline="StableDiffusionXLPipeline")
    save_model(root / "pickled", weights="model.bin")
    (root / "notes").mkdir()
    found = list_base_models()
    assert [entry.name for entry in found] == ["shapes", "team/flux-small"]
    assert found[0].family is ModelFamily.FLUX
    assert found[0].description == "Draws shapes."


@pytest.mark.parametrize(
    ("index", "family"),
    [
        ({"_class_name": "WanPipeline", "transformer_2": [None, None]}, ModelFamily.WAN),
        ({"_class_name": "WanPipeline", "transformer_2": ["diffusers", "WanTransformer3DModel"]}, ModelFamily.WAN22),
        ({"_class_name": "WanPipeline", "expand_timesteps": True, "transformer_2": [None, None]}, ModelFamily.WAN22),
        ({"_class_name": "HunyuanVideoPipeline"}, ModelFamily.HUNYUAN_VIDEO),
        ({"_class_name": "Flux2KleinPipeline"}, ModelFamily.FLUX2_KLEIN),
    ],
)
def test_the_family_is_read_from_the_checkpoint(root: Path, index: dict[str, object], family: ModelFamily) -> None:
    (save_model(root / "model") / "model_index.json").write_text(json.dumps(index))
    assert [entry.family for entry in list_base_models()] == [family]


def test_every_family_may_be_brought_as_a_folder() -> None:
    assert {*FAMILY_OF_PIPELINE.values(), ModelFamily.WAN22} == set(ModelFamily)


def test_a_name_resolves_to_its_folder(root: Path) -> None:
    folder = save_model(root / "team" / "flux-small")
    assert resolve_base_model("team/flux-small") == str(folder)
    assert resolve_base_model(str(folder)) == str(folder)


def test_a_hub_id_stays_as_it_is(root: Path) -> None:
    assert resolve_base_model("black-forest-labs/FLUX.1-dev") == "black-forest-labs/FLUX.1-dev"


@pytest.mark.parametrize("path", ["absent", "", ".", "../models", "../../etc", "/etc", "a/b/c", "org/..", "org/na me"])
def test_anything_else_is_refused_naming_what_there_is(root: Path, path: str) -> None:
    save_model(root / "shapes")
    with pytest.raises(ModelNotUsable, match="choose one of `shapes`"):
        resolve_base_model(path)


def test_a_link_out_of_the_roots_is_not_followed(root: Path, tmp_path: Path) -> None:
    outside = save_model(tmp_path / "outside")
    (root / "link").symlink_to(outside)
    assert list_base_models() == []
    with pytest.raises(ModelNotUsable):
        resolve_base_model("link")


@pytest.mark.parametrize("weights", ["model.bin", "model.pt", "model.ckpt", "model.pkl"])
def test_pickled_weights_are_refused_in_plain_words(root: Path, weights: str) -> None:
    save_model(root / "old", weights=weights)
    with pytest.raises(ModelNotUsable, match=rf"`old` holds pickled weights \({weights}\).*save it as safetensors"):
        resolve_base_model("old")


def test_a_pickle_beside_safetensors_is_refused_too(root: Path) -> None:
    folder = save_model(root / "mixed")
    (folder / "transformer" / "optimizer.pt").write_bytes(b"")
    with pytest.raises(ModelNotUsable, match="pickled"):
        resolve_base_model("mixed")


def test_folders_that_are_no_models_say_what_they_lack(root: Path) -> None:
    (root / "empty").mkdir()
    with pytest.raises(ModelNotUsable, match=r"no model_index\.json"):
        resolve_base_model("empty")
    (root / "empty" / "model_index.json").write_text("not json")
    with pytest.raises(ModelNotUsable, match="is no FluxPipeline"):
        resolve_base_model("empty")
    (root / "empty" / "model_index.json").write_text('{"_class_name": "FluxPipeline"}')
    with pytest.raises(ModelNotUsable, match="no safetensors"):
        resolve_base_model("empty")


def test_the_shipped_model_is_offered() -> None:
    assert "shapes" in [entry.name for entry in list_base_models()]
