"""When evaluations begin. Each stays under way until it is scored, which may take longer than the batch after it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from worker.contracts.commands import CommandKind, RunCommand
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.evaluations import MAX_ENCODED_TOGETHER, EvaluationManager
from worker.engine.control.fragment_store import FragmentRecord, FragmentStore
from worker.engine.control.prompt_schedule import PromptSchedule
from worker.scheduling.core.messages import EvaluationComplete, Fragment, FragmentKey, Purpose

NUM_BATCHES = 9


class Setup:
    """An evaluation manager of a run that is to be evaluated after every batch."""

    def __init__(self, spec: RunSpec, client: Any) -> None:
        self.fragments = FragmentStore()
        samples: Any = SimpleNamespace(report=lambda *arguments: None)
        self.commands = CommandQueue(client)
        self.encoded = list[tuple[Prompt, ...]]()
        """The prompts that are encoded."""
        self.evaluations = EvaluationManager(
            spec=spec,
            prompts=PromptSchedule(spec, [Prompt(text="a"), Prompt(text="b")]),
            fragments=self.fragments,
            samples=samples,
            client=client,
            commands=self.commands,
            encoded=lambda prompts: tuple(prompts) in self.encoded,
        )

    def begin(self, batch: int) -> None:
        self.evaluations.evaluation(batch=batch, policy_version=batch)

    def complete(self, batch: int) -> None:
        fragment = Fragment(FragmentKey(Purpose.EVALUATE, batch, 0, 0), (0,), batch)
        images: Any = None
        self.fragments.put(
            FragmentRecord(
                fragment=fragment,
                prompt=Prompt(text="a"),
                prompt_index=0,
                lane="rollout-0",
                seeds=(0,),
                images=images,
                parts={},
            )
        )
        self.evaluations.complete(EvaluationComplete(Purpose.EVALUATE, batch, ()), RunPosition())


@pytest.fixture
def setup(make_spec: Callable[..., RunSpec], client: Any) -> Setup:
    return Setup(make_spec(num_batches=NUM_BATCHES, evaluation={"every_num_batches": 1}), client)


def test_an_evaluation_that_takes_longer_than_a_batch_does_not_put_out_the_next(setup: Setup) -> None:
    setup.begin(3)
    assert setup.evaluations.is_due(4)


def test_evaluations_that_are_never_scored_in_time_do_not_pile_up(setup: Setup) -> None:
    setup.begin(3)
    setup.begin(4)
    assert not setup.evaluations.is_due(5)
    setup.complete(3)
    assert setup.evaluations.is_due(5)


@pytest.mark.parametrize("batch, is_end", [(NUM_BATCHES, False), (5, True)])
def test_a_run_ends_with_an_evaluation_whatever_is_under_way(setup: Setup, batch: int, is_end: bool) -> None:
    setup.begin(batch - 2)
    setup.begin(batch - 1)
    assert setup.evaluations.is_due(batch, is_end=is_end)


def test_a_version_is_evaluated_once(setup: Setup) -> None:
    setup.begin(5)
    assert not setup.evaluations.is_due(5, is_end=True)
    setup.complete(5)
    assert not setup.evaluations.is_due(5, is_end=True)


def test_an_evaluation_that_a_rewind_has_dropped_begins_again(setup: Setup) -> None:
    setup.begin(5)
    setup.evaluations.restart()
    assert setup.evaluations.is_due_first(5)


def test_an_evaluation_that_is_complete_does_not_begin_again_after_a_rewind(setup: Setup) -> None:
    setup.begin(5)
    setup.complete(5)
    setup.evaluations.restart()
    assert not setup.evaluations.is_due_first(5)


def test_an_attempt_evaluates_first_at_the_start_and_the_end_of_the_run_alone(setup: Setup) -> None:
    assert [batch for batch in range(NUM_BATCHES + 1) if setup.evaluations.is_due_first(batch)] == [0, NUM_BATCHES]


def test_samples_of_own_prompts_begin_once_these_are_encoded(setup: Setup) -> None:
    asked = (Prompt(text="something new"),)
    setup.commands.sample_commands.append(RunCommand(id="c1", kind=CommandKind.SAMPLE_NOW, prompts=asked))
    assert setup.evaluations.next_request(batch=3, policy_version=3) is None
    setup.encoded.append(asked)
    request = setup.evaluations.next_request(batch=3, policy_version=3)
    assert request is not None and request.num_groups == 1
    assert setup.evaluations.next_request(batch=3, policy_version=3) is None, "one is under way"


def test_prompts_of_requests_that_wait_together_are_encoded_together_up_to_a_bound(setup: Setup) -> None:
    first, *_ = commands = [
        RunCommand(
            id=f"c{command}",
            kind=CommandKind.SAMPLE_NOW,
            prompts=tuple(Prompt(text=f"{command} {number}") for number in range(16)),
        )
        for command in range(MAX_ENCODED_TOGETHER // 16 + 1)
    ]
    setup.commands.sample_commands.extend(commands)
    setup.encoded.append(tuple(prompt for command in commands[:-1] for prompt in command.prompts))
    request = setup.evaluations.next_request(batch=3, policy_version=3)
    assert request is not None and request.num_groups == len(first.prompts)
    assert list(setup.commands.sample_commands) == commands[1:]
