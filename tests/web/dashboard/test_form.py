"""The form's own lists against the contracts: what the frontend lays by hand must not fall behind the spec."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worker.contracts.algorithms import ALGORITHM_SPECS
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind
from worker.contracts.performance import WITHOUT_KERNEL_CHOICE
from worker.contracts.run_spec import RunSpec

FORM = Path(__file__).resolve().parents[3] / "frontend" / "src" / "pages" / "new_run"
SCHEMA = RunSpec.model_json_schema()


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def fields_of(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted path of every field; a list, or a section with variants, is one."""
    for name, field in resolved(schema)["properties"].items():
        if "properties" in resolved(field):
            yield from fields_of(field, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def named_set(name: str) -> set[str]:
    """The words of a set of `applies.ts`, with those of the set that it is laid over."""
    found = re.search(rf"const {name} = new Set\(\[(.*?)\]\)", (FORM / "applies.ts").read_text(), re.DOTALL)
    assert found is not None, name
    words = set(re.findall(r'"([a-z0-9_]+)"', found[1]))
    return words.union(*(named_set(other) for other in re.findall(r"\.\.\.([A-Z_]+)", found[1])))


@pytest.mark.parametrize("path", tuple(fields_of(SCHEMA)))
def test_every_field_of_the_spec_is_asked_for(path: str) -> None:
    written = "".join((FORM / name).read_text() for name in ("fields.ts", "source_groups.tsx", "rewards_group.tsx"))
    assert f'"{path}"' in written


def test_what_families_have_no_use_for_is_known_to_the_form() -> None:
    def those(holds: Any) -> set[str]:
        return {family.value for family, traits in FAMILY_TRAITS.items() if holds(traits)}

    assert named_set("MAKES_CLIPS") == those(lambda traits: traits.makes_clips)
    assert named_set("WITH_EMBEDDED_GUIDANCE") == those(lambda traits: traits.guidance is GuidanceKind.EMBEDDED)
    assert named_set("WITHOUT_NEGATIVE_PROMPT") == those(lambda traits: not traits.takes_negative_prompt)
    assert named_set("WITHOUT_KERNEL_CHOICE") == {family.value for family in WITHOUT_KERNEL_CHOICE}
    assert named_set("WITH_TWO_EXPERTS") == those(lambda traits: traits.may_have_two_experts)


def test_what_algorithms_have_no_use_for_is_known_to_the_form() -> None:
    ratio = {name for name, kind in ALGORITHM_SPECS.items() if kind.is_policy_gradient}
    noiseless = {name for name, kind in ALGORITHM_SPECS.items() if not kind().needs.log_probs}
    assert named_set("WEIGHED_BY_RATIO") == ratio
    assert named_set("WITHOUT_NOISE") == noiseless
