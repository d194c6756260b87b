"""Held-out evaluations, and samples of the user's own prompts: when they begin, and the report once they are complete.

```text
cadence, or a `sample_now` command ─► EvaluationRequested ─► generated and scored ─► EvaluationComplete ─► events
```

Both use fixed seeds that training never uses, so pictures of one prompt and member are comparable over the whole run.
An evaluation may still be under way when the next one is due, since it is generated and scored beside the batches.
"""

from collections.abc import Callable, Sequence

from worker.contracts.commands import RunCommand
from worker.contracts.events import EvaluationEvent, MetricsEvent
from worker.contracts.metric_names import Metric
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.fragment_store import FragmentStore
from worker.engine.control.metrics_reporter import part_means, reward_metrics
from worker.engine.control.prompt_schedule import PromptSchedule
from worker.engine.control.sample_reporter import SampleReporter, SampleSet
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.messages import EvaluationComplete, EvaluationRequested, Purpose

MAX_UNDER_WAY = 2
"""The most evaluations under way at a time, but for the last one of a run: one may take as long as the batch after it
and longer. Where reward lanes fall behind further, those that are due are left out rather than their pictures kept."""
MAX_ENCODED_TOGETHER = 64
"""Prompts of waiting sample requests that are encoded together, since loading the text encoders takes as long as
encoding dozens: more would keep the first request waiting for longer than it saves the last."""


class EvaluationManager:
    """Begins and reports evaluations and sample requests, of which at most one is under way at a time."""

    def __init__(
        self,
        *,
        spec: RunSpec,
        prompts: PromptSchedule,
        fragments: FragmentStore,
        samples: SampleReporter,
        client: TelemetryClient,
        commands: CommandQueue,
        encoded: Callable[[Sequence[Prompt]], bool] = lambda _: True,
        first_batch: int = 0,
    ) -> None:
        """
        Args:
            encoded: whether the prompts of the requests that wait are encoded; called again and again until they are.
            first_batch: complete batches that the run begins with: those of the checkpoint that it was forked from.
        """
        self._spec = spec
        self._first_batch = first_batch
        self._prompts = prompts
        self._fragments = fragments
        self._samples = samples
        self._client = client
        self._commands = commands
        self._encoded = encoded
        self._command: RunCommand | None = None
        """The `sample_now` command whose samples are under way."""
        self._last_begun: int | None = None
        """The number of batches that were complete when the last evaluation began."""
        self._under_way: set[int] = set()
        """The same number of each evaluation that is not complete."""
        self._dropped: set[int] = set()
        """Those that a rewind has dropped."""

    def is_due(self, batch: int, *, is_end: bool = False) -> bool:
        """Whether an evaluation is due after `batch` complete batches: by the cadence, and at the run's start and end.

        Args:
            batch: the number of batches complete.
            is_end: the run ends here, although it is not at its last batch.
        """
        if self._last_begun == batch:
            return False
        if is_end or batch == self._spec.num_batches:
            return True
        every = self._spec.evaluation.every_num_batches
        is_scheduled = batch == self._first_batch or (every is not None and batch % every == 0)
        return is_scheduled and len(self._under_way) < MAX_UNDER_WAY

    def is_due_first(self, batch: int) -> bool:
        """Whether an evaluation is due before a scheduler's first batch, after `batch` complete ones: at the run's
        start and end, and where a rewind has dropped it. Any other was begun by the attempt before."""
        return self.is_due(batch) and (batch in (self._first_batch, self._spec.num_batches) or batch in self._dropped)

    def evaluation(self, *, batch: int, policy_version: int) -> EvaluationRequested:
        """Begin an evaluation of the version published last, after `batch` complete batches."""
        self._last_begun = batch
        self._under_way.add(batch)
        return EvaluationRequested(
            purpose=Purpose.EVALUATE,
            batch=batch,
            num_groups=len(self._prompts.held_out),
            group_size=self._spec.evaluation.num_samples_per_prompt,
            policy_version=policy_version,
        )

    def next_request(self, *, batch: int, policy_version: int) -> EvaluationRequested | None:
        """Begin the oldest waiting `sample_now` command on `policy_version`, once its prompts are encoded, unless
        another one is under way."""
        if self._command is not None or not self._commands.sample_commands:
            return None
        if not self._encoded(self._waiting_prompts()):
            return None
        self._command = self._commands.sample_commands.popleft()
        self._prompts.requested = self._command.prompts or self._prompts.held_out
        return EvaluationRequested(
            purpose=Purpose.REQUEST,
            batch=batch,
            num_groups=len(self._prompts.requested),
            group_size=self._spec.evaluation.num_samples_per_prompt,
            policy_version=policy_version,
        )

    def _waiting_prompts(self) -> list[Prompt]:
        """Those of the oldest waiting command, and of as many after it as are encoded together."""
        found = list[Prompt]()
        for command in self._commands.sample_commands:
            if found and len(found) + len(command.prompts) > MAX_ENCODED_TOGETHER:
                break
            found += command.prompts
        return found

    def restart(self) -> None:
        """Called when the scheduler was replaced: the new one has no evaluation, and the command under way is queued
        again."""
        self._dropped, self._under_way = self._under_way, set()
        if self._dropped:
            self._last_begun = None
        if self._command is not None:
            self._commands.sample_commands.appendleft(self._command)
            self._command = None

    def complete(self, action: EvaluationComplete, position: RunPosition) -> None:
        """Report the scored samples, and drop the references to their pictures."""
        records = self._fragments.of_batch(action.purpose, action.batch)
        version = records[0].fragment.policy_version
        is_request = action.purpose is Purpose.REQUEST
        name = self._command.id if self._command is not None and is_request else f"{action.batch:06d}"
        sample_set = SampleSet(
            purpose="request" if is_request else "evaluate",
            batch=action.batch,
            policy_version=version,
            trainer_version=position.policy_version,
            folder=f"{action.purpose.value}/{name}",
        )
        self._samples.report(sample_set, records)
        if is_request:
            self._answer_command()
        else:
            self._report_means(action.batch, version, position)
        self._fragments.drop(action.purpose, action.batch)

    def _report_means(self, batch: int, version: int, position: RunPosition) -> None:
        records = self._fragments.of_batch(Purpose.EVALUATE, batch)
        mean = reward_metrics(records).get(Metric.REWARD_MEAN)
        total = {} if mean is None else {"reward": mean}
        self._client.emit(
            EvaluationEvent,
            batch=batch,
            policy_version=version,
            num_samples=sum(len(record.fragment.members) for record in records),
            values=total | part_means(records, "{name}"),
        )
        self._client.emit(
            MetricsEvent,
            batch=batch,
            optimizer_step=position.optimizer_step,
            values=({} if mean is None else {Metric.EVAL_REWARD: mean}) | part_means(records, Metric.EVAL_PART),
        )
        self._under_way.remove(batch)

    def _answer_command(self) -> None:
        assert self._command is not None, "sample requests begin with a command"
        self._commands.answer(self._command.id, f"{len(self._prompts.requested)} prompts sampled")
        self._command = None
