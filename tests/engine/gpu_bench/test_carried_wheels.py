"""A bare machine has all packages that the GPU bench imports: what it brings itself, and the wheels carried there."""

from collections.abc import Collection
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.engine.gpu_bench.imported_packages import (
    ROOT,
    normal_name,
    requirements,
    third_party_imports,
    with_requirements,
)

MACHINES_OWN = ("torch", "triton", "numpy", "transformers", "tokenizers", "huggingface-hub", "pytest")
"""As the head of `bench_gpu.txt` says; each with all that it requires, since it was installed with it."""
OPTIONAL = {"ray"}
"""Imported in functions only: without it, the rows that need it say so."""
LIST = ROOT / "deploy" / "requirements" / "bench_gpu.txt"
KIT = [*(ROOT / "tests" / "bench" / "gpu").rglob("*.py")]
# `gpu_tests` starts them with pytest, which imports the conftest above them.
ITS_TESTS = [*(ROOT / "tests" / "gpu").rglob("*.py"), ROOT / "tests" / "conftest.py"]


def carried() -> set[str]:
    lines = LIST.read_text().splitlines()
    return {normal_name(line.strip()) for line in lines if line.strip() and not line.startswith("#")}


def lacking(imports: Collection[str], wheels: Collection[str]) -> set[str]:
    """The modules of `imports` that no package of the machine's or of `wheels` brings."""
    packages, present = packages_distributions(), with_requirements(MACHINES_OWN) | set(wheels)
    return {name for name in imports if not {normal_name(each) for each in packages.get(name, ())} & present}


def test_every_package_that_is_imported_is_carried_or_the_machines_own() -> None:
    imports = third_party_imports([*KIT, *ITS_TESTS], in_functions=False)
    assert {"deepspeed", "diffusers", "PIL", "hypothesis"} <= imports.keys()
    assert lacking(imports, carried()) == set(), {name: str(imports[name]) for name in lacking(imports, carried())}


def test_what_only_a_call_imports_is_carried_too_or_can_be_done_without() -> None:
    imports = third_party_imports(KIT, in_functions=True)
    assert lacking(imports, carried()) == OPTIONAL


def test_every_requirement_of_a_carried_package_is_carried_or_the_machines_own() -> None:
    present = with_requirements(MACHINES_OWN) | carried()
    missing = {name: set(requirements(name)) - present for name in carried()}
    assert {name: wanted for name, wanted in missing.items() if wanted} == {}


def test_a_package_that_is_taken_off_the_list_is_missed() -> None:
    imports = third_party_imports(KIT, in_functions=False)
    assert lacking(imports, carried() - {"pillow", "deepspeed"}) == {"PIL", "deepspeed"}


def test_the_list_names_what_the_machine_brings() -> None:
    head = " ".join(line.lstrip("# ") for line in LIST.read_text().splitlines() if line.startswith("#"))
    assert ", ".join(MACHINES_OWN) in head


def test_an_import_is_followed_into_the_modules_of_this_tree(tmp_path: Path) -> None:
    file = tmp_path / "kit.py"
    file.write_text("from tests.bench import sized_trajectories\n\n\ndef later():\n    import ray\n")
    assert "torch" in third_party_imports([file], in_functions=False)
    assert "ray" not in third_party_imports([file], in_functions=False)
    assert "ray" in third_party_imports([file], in_functions=True)
