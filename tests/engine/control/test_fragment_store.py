"""The driver's references to fragments: a rank's micro-batches name the parts that they need, each once."""

from typing import Any

from worker.contracts.prompts import Prompt
from worker.engine.control.fragment_store import FragmentRecord, FragmentStore
from worker.engine.transport.parts import Part
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, MicroBatchKey, Purpose


def record(group: int, index: int, *, is_scored: bool = True) -> FragmentRecord:
    """A fragment of two members, with a part for each of two micro-batches and one for both."""
    members = (2 * index, 2 * index + 1)
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, group, index), members, 0)
    refs: dict[Part, Any] = {Part(members, which): f"{group}.{index}.{which}" for which in ((0,), (1,), (0, 1))}
    return FragmentRecord(
        fragment=fragment,
        prompt=Prompt(text="a prompt"),
        prompt_index=group,
        lane="rollout-0",
        seeds=(0, 1),
        images=None,
        parts=refs,
        scored=ScoredFragment(fragment=fragment, rewards=(0.0, 0.0), parts={}) if is_scored else None,
    )


def test_micro_batches_get_the_parts_that_name_them_in_member_order_and_each_once() -> None:
    store = FragmentStore()
    for group, index in ((1, 1), (0, 0), (1, 0), (0, 1)):
        store.put(record(group, index))
    own = store.parts_for(0, [MicroBatchKey(1, 0), MicroBatchKey(0, 1), MicroBatchKey(0, 0)])
    assert own == {
        1: ["1.0.(0,)", "1.0.(0, 1)", "1.1.(0,)", "1.1.(0, 1)"],
        0: [f"0.{index}.{which}" for index in (0, 1) for which in ((0,), (1,), (0, 1))],
    }


def test_a_group_is_scored_when_all_its_members_are() -> None:
    store = FragmentStore()
    store.put(record(0, 0))
    assert not store.is_scored(0, 0, 4) and not store.is_scored(0, 1, 4)
    store.put(record(0, 1, is_scored=False))
    assert not store.is_scored(0, 0, 4)
    store.put(record(0, 1))
    assert store.is_scored(0, 0, 4)
