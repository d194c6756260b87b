"""A checkpoint of n ranks in one ZeRO stage is loaded by m ranks in another, bit for bit in the same layout."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.checkpoints import layout_worker
from tests.engine.trainer.checkpoints.layout_worker import Held, Observed, Work
from tests.engine.trainer.gradient_recorder import relative_distance
from worker.contracts.run_spec import RunSpec

NUM_PAIRS = 24
EMA: dict[str, Any] = {"ema": {"decay": 0.9, "every_num_optimizer_steps": 1}}
Sources = dict[str, tuple[str, int, list[Observed]]]
"""URI → (configuration, world size, what each rank observed when it was written)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Runs whose checkpoints must load into each other."""

    sections: dict[str, Any]
    configs: tuple[str, ...]
    world_sizes: tuple[int, ...]


LORA = Kind(
    EMA,
    ("zero0", "zero1_cpuoffload", "zero2+round_robin_gradients=true", "zero3+sub_group_size=1000"),
    (1, 2, 3, 4),
)
FULL = Kind(EMA | {"tuning": "full"}, ("zero0", "zero1", "zero2_cpuoffload", "zero3"), (1, 2, 3, 4))
FULL_BF16 = Kind(
    EMA | {"tuning": "full", "base_model": {"dtype": "bf16"}},
    # In bf16 the fp32 master weights are ZeRO's, so there is no stage 0.
    ("zero1", "zero2", "zero3_cpuoffload"),
    (1, 2, 3, 4),
)


@pytest.fixture
def make_work(make_spec: Callable[..., RunSpec], tiny_checkpoint: str) -> Callable[[Kind], Work]:
    def make(kind: Kind) -> Work:
        spec = make_spec(**kind.sections, **({"deepspeed": {"config": "zero1"}} if "tuning" in kind.sections else {}))
        version = perturbed_version(spec, tiny_checkpoint, seed=1)
        groups = draw_groups(spec, tiny_checkpoint, version)
        return Work(spec, tiny_checkpoint, version, groups, NUM_PAIRS, written={}, read={})

    return make


def on_ranks(work: Work, world_size: int, folder: Path) -> dict[str, Any]:
    """What the ranks observed: `written` by configuration and `read` by configuration and URI, each a list by rank."""
    folder.mkdir()
    if world_size == 1:
        by_rank = [layout_worker.run(work, 0, 1, folder)]
    else:
        by_rank = run_rank_processes(layout_worker.__name__, work, folder, world_size=world_size)
    return {
        "written": {config: [rank["written"][config] for rank in by_rank] for config in work.written},
        "read": {
            config: {uri: [rank["read"][config][uri] for rank in by_rank] for uri in uris}
            for config, uris in work.read.items()
        },
    }


def assembled(held_by_ranks: Iterable[Held]) -> dict[str, torch.Tensor]:
    """The flat tensors that the ranks hold together. Replicated ones must be equal on all ranks."""
    parts: defaultdict[str, dict[int, torch.Tensor]] = defaultdict(dict)
    for held in held_by_ranks:
        for key, (start, values) in held.items():
            assert torch.equal(parts[key].setdefault(start, values), values), key
    for key, found in parts.items():
        starts = sorted(found)
        for start, following in itertools.pairwise(starts):
            assert start + found[start].numel() == following, f"{key} has a gap or an overlap"
    return {key: torch.cat([found[start] for start in sorted(found)]) for key, found in parts.items()}


def check_loaded(loaded: Sequence[Observed], written: Sequence[Observed], *, is_same_layout: bool) -> None:
    """The state is the one that was written; a step later too, but for the order of sums over ranks."""
    before, expected = assembled(each["held"] for each in loaded), assembled(each["held"] for each in written)
    assert before.keys() == expected.keys() and len(before) > 0
    for key, tensor in before.items():
        assert torch.equal(tensor, expected[key]), key
    assert {name: count for each in loaded for name, count in each["steps"].items()} == {
        name: count for each in written for name, count in each["steps"].items()
    }
    for rank in loaded:
        assert all(rank[name] == written[0][name] for name in ("counters", "client_state"))
    after, reference = (assembled(each["held_after_step"] for each in ranks) for ranks in (loaded, written))
    if is_same_layout:
        assert all(torch.equal(after[key], reference[key]) for key in reference)
        assert {each["version_after_step"] for each in loaded} == {each["version_after_step"] for each in written}
    for quantity in {key.partition("/")[0] for key in reference}:
        keys = sorted(key for key in reference if key.startswith(f"{quantity}/"))
        changes = [torch.cat([state[key] - expected[key] for key in keys]) for state in (after, reference)]
        # A weight whose gradient is all rounding moves by chance; in bf16 activations round alike.
        assert changes[1].norm() > 0 and relative_distance(*changes) < 0.02, quantity


def check_all(read: dict[str, Any], sources: Sources, world_size: int) -> int:
    """Check every load that a group of ranks has done; returns their number."""
    for config, by_uri in read.items():
        for uri, loaded in by_uri.items():
            source_config, source_size, written = sources[uri]
            check_loaded(loaded, written, is_same_layout=(source_config, source_size) == (config, world_size))
    return sum(len(by_uri) for by_uri in read.values())


def test_one_rank_and_two_load_each_others_checkpoints_in_other_stages(
    make_work: Callable[[Kind], Work], tmp_path: Path, process_group: None
) -> None:
    work = make_work(LORA)
    ones = {config: f"file://{tmp_path}/1-{config}" for config in ("zero0", "zero3")}
    twos = {config: f"file://{tmp_path}/2-{config}" for config in ("zero2", "zero3")}
    one = on_ranks(_with(work, written=ones), 1, tmp_path / "one")
    read_by_two: dict[str, tuple[str, ...]] = {
        "zero1_cpuoffload": (ones["zero3"], twos["zero3"]),
        "zero3": (ones["zero0"], twos["zero3"]),
    }
    two = on_ranks(_with(work, written=twos, read=read_by_two), 2, tmp_path / "two")
    sources = {uri: (config, 1, one["written"][config]) for config, uri in ones.items()}
    sources |= {uri: (config, 2, two["written"][config]) for config, uri in twos.items()}
    again = on_ranks(_with(work, read={"zero0": tuple(twos.values())}), 1, tmp_path / "again")
    assert check_all(two["read"], sources, 2) + check_all(again["read"], sources, 1) == 6


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", [LORA, FULL, FULL_BF16], ids=["lora", "full", "full-bf16"])
def test_any_number_of_ranks_loads_what_any_number_wrote(
    make_work: Callable[[Kind], Work], tmp_path: Path, process_group: None, kind: Kind
) -> None:
    """Every pair of world sizes, and pairs of configurations that differ with them, the same layout always included."""
    work = make_work(kind)
    sources: Sources = {}
    uris = {
        (size, config): f"file://{tmp_path}/{size}-{config}" for size in kind.world_sizes for config in kind.configs
    }
    for size in kind.world_sizes:
        written = {config: uris[size, config] for config in kind.configs}
        found = on_ranks(_with(work, written=written), size, tmp_path / f"writes-{size}")
        sources |= {uri: (config, size, found["written"][config]) for config, uri in written.items()}
    for size in kind.world_sizes:
        read: dict[str, tuple[str, ...]] = {}
        for index, config in enumerate(kind.configs):
            others = [uris[n, kind.configs[(index + n + size) % len(kind.configs)]] for n in kind.world_sizes]
            read[config] = tuple(dict.fromkeys([uris[size, config], *others]))
        found = on_ranks(_with(work, read=read), size, tmp_path / f"reads-{size}")
        assert check_all(found["read"], sources, size) >= len(kind.world_sizes) * len(kind.configs)


def _with(work: Work, *, written: dict[str, str] | None = None, read: dict[str, tuple[str, ...]] | None = None) -> Work:
    return Work(work.spec, work.path, work.version, work.groups, work.num_pairs, written or {}, read or {})
