"""The NVML reader, and the fake that its tests run on, use functions and constants that the real `pynvml` has."""

import ast
import inspect
from pathlib import Path

import pynvml
import pytest

from tests.node.readers.fake_nvml import FakeNvml, functions_of
from worker.node.readers import nvml, nvml_device, nvml_values, nvml_xids

MODULES = (nvml, nvml_device, nvml_xids)


def names_of_pynvml(module: object) -> set[str]:
    """Attributes that are read of anything called `nvml`, `self._nvml` or `pynvml`."""
    tree = ast.parse(Path(inspect.getfile(module)).read_text())  # type: ignore[arg-type]
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in attributes if ast.unparse(node.value) in ("nvml", "self._nvml", "pynvml")}


def test_the_reader_uses_names_that_pynvml_has() -> None:
    used = set[str]().union(*(names_of_pynvml(module) for module in MODULES))
    assert len(used) > 50, "the walk over the source found too little to say anything"
    assert {name for name in used if not hasattr(pynvml, name)} == set()


def test_every_function_that_the_reader_calls_is_faked() -> None:
    used = set[str]().union(*(names_of_pynvml(module) for module in MODULES))
    functions = {name for name in used if inspect.isfunction(getattr(pynvml, name))}
    assert functions == set(functions_of(FakeNvml))


@pytest.mark.parametrize("name", sorted(functions_of(FakeNvml)))
def test_the_fake_has_the_signature_of_pynvml(name: str) -> None:
    real = inspect.signature(getattr(pynvml, name)).parameters
    fake = inspect.signature(getattr(FakeNvml([]), name)).parameters
    assert [(each.name, each.default) for each in fake.values()] == [
        (each.name, each.default) for each in real.values()
    ]


@pytest.mark.parametrize(
    ("table", "prefix"),
    [
        ("_ARCHITECTURES", "NVML_DEVICE_ARCH_"),
        ("_RECOVERY_ACTIONS", "NVML_GPU_RECOVERY_ACTION_"),
        ("_UNION_MEMBERS", "NVML_VALUE_TYPE_"),
    ],
)
def test_numbers_are_named_as_in_the_header(table: str, prefix: str) -> None:
    known = {getattr(pynvml, name) for name in dir(pynvml) if name.startswith(prefix)}
    assert set(getattr(nvml_values, table)) <= known


def test_architectures_have_the_headers_numbers() -> None:
    for number, name in nvml_values._ARCHITECTURES.items():
        assert getattr(pynvml, f"NVML_DEVICE_ARCH_{name.upper()}") == number


def test_throttle_reasons_have_the_headers_bits() -> None:
    bits = {
        "software power cap": pynvml.nvmlClocksEventReasonSwPowerCap,
        "hardware slowdown": pynvml.nvmlClocksEventReasonHwSlowdown,
        "sync boost": pynvml.nvmlClocksEventReasonSyncBoost,
        "software thermal slowdown": pynvml.nvmlClocksEventReasonSwThermalSlowdown,
        "hardware thermal slowdown": pynvml.nvmlClocksEventReasonHwThermalSlowdown,
        "hardware power brake": pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown,
    }
    assert {name: bit for bit, name in nvml_values._THROTTLE_REASONS.items()} == bits


def test_union_members_are_those_of_the_value_types() -> None:
    members = {
        "dVal": pynvml.NVML_VALUE_TYPE_DOUBLE,
        "uiVal": pynvml.NVML_VALUE_TYPE_UNSIGNED_INT,
        "ulVal": pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG,
        "ullVal": pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
        "sllVal": pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG,
        "siVal": pynvml.NVML_VALUE_TYPE_SIGNED_INT,
        "usVal": pynvml.NVML_VALUE_TYPE_UNSIGNED_SHORT,
    }
    assert {member: number for number, member in nvml_values._UNION_MEMBERS.items()} == members
    assert {name for name, _ in pynvml.c_nvmlValue_t._fields_} == set(members)
