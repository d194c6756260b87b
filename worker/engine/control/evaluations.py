"""Held-out evaluations and the user's own prompts: asked of the scheduler, told when complete.

Seeds of both are held out and never change, so pictures of one prompt and member are comparable over the whole run.
"""

from worker.contracts.commands import RunCommand
from worker.contracts.events import EvaluationEvent, MetricsEvent
from worker.contracts.metric_names import Metric
from worker.contracts.run_spec import RunSpec
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.fragment_store import FragmentStore
from worker.engine.control.metrics_reporter import part_means, reward_metrics
from worker.engine.control.prompt_schedule import PromptSchedule
from worker.engine.control.sample_reporter import SampleReporter, SampleSet
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.messages import EvaluationComplete, EvaluationRequested, Purpose


class EvaluationManager:
    """At most one evaluation and one request are under way at a time."""

    def __init__(
        self,
        *,
        spec: RunSpec,
        prompts: PromptSchedule,
        fragments: FragmentStore,
        samples: SampleReporter,
        client: TelemetryClient,
        commands: CommandQueue,
    ) -> None:
        self._spec = spec
        self._prompts = prompts
        self._fragments = fragments
        self._samples = samples
        self._client = client
        self._commands = commands
        self._order: RunCommand | None = None
        self._last_evaluated: int | None = None
        self.is_evaluating = False

    def is_due(self, batch: int, *, is_end: bool = False) -> bool:
        """Whether an evaluation is wanted after `batch` complete batches: by the cadence, and at the start and the end.

        `is_end`: the run ends here, before its last batch.
        """
        if self.is_evaluating or self._last_evaluated == batch:
            return False
        every = self._spec.evaluation.every_num_batches
        return is_end or batch in (0, self._spec.num_batches) or (every is not None and batch % every == 0)

    def evaluation(self, *, batch: int, policy_version: int) -> EvaluationRequested:
        """Begin an evaluation of the version published last, after `batch` complete batches."""
        self.is_evaluating = True
        return EvaluationRequested(
            purpose=Purpose.EVALUATE,
            batch=batch,
            num_groups=len(self._prompts.held_out),
            group_size=self._spec.evaluation.num_samples_per_prompt,
            policy_version=policy_version,
        )

    def next_request(self, *, batch: int, policy_version: int) -> EvaluationRequested | None:
        """Begin the oldest waiting `sample_now` on the version published last, unless one is under way."""
        if self._order is not None or not self._commands.sample_orders:
            return None
        self._order = self._commands.sample_orders.popleft()
        self._prompts.requested = self._order.prompts or self._prompts.held_out
        return EvaluationRequested(
            purpose=Purpose.REQUEST,
            batch=batch,
            num_groups=len(self._prompts.requested),
            group_size=self._spec.evaluation.num_samples_per_prompt,
            policy_version=policy_version,
        )

    def restart(self) -> None:
        """The scheduler was replaced and knows nothing of what was under way: a request goes back in the queue."""
        self.is_evaluating = False
        if self._order is not None:
            self._commands.sample_orders.appendleft(self._order)
            self._order = None

    def complete(self, action: EvaluationComplete, position: RunPosition) -> None:
        """Tell what was found and let go of the pictures."""
        records = self._fragments.of_batch(action.purpose, action.batch)
        version = records[0].fragment.policy_version
        is_request = action.purpose is Purpose.REQUEST
        name = self._order.id if self._order is not None and is_request else f"{action.batch:06d}"
        shown = SampleSet(
            purpose="request" if is_request else "evaluate",
            batch=action.batch,
            policy_version=version,
            trainer_version=position.policy_version,
            folder=f"{action.purpose.value}/{name}",
        )
        self._samples.report(shown, records)
        if is_request:
            self._answer_order()
        else:
            self._report_means(action.batch, version, position)
        self._fragments.drop(action.purpose, action.batch)

    def _report_means(self, batch: int, version: int, position: RunPosition) -> None:
        records = self._fragments.of_batch(Purpose.EVALUATE, batch)
        mean = reward_metrics(records).get(Metric.REWARD_MEAN)
        rewarded = {} if mean is None else {"reward": mean}
        self._client.emit(
            EvaluationEvent,
            batch=batch,
            policy_version=version,
            num_samples=sum(len(record.fragment.members) for record in records),
            values=rewarded | part_means(records, "{name}"),
        )
        self._client.emit(
            MetricsEvent,
            batch=batch,
            optimizer_step=position.optimizer_step,
            values=({} if mean is None else {Metric.EVAL_REWARD: mean}) | part_means(records, Metric.EVAL_PART),
        )
        self.is_evaluating = False
        self._last_evaluated = batch

    def _answer_order(self) -> None:
        assert self._order is not None, "only a command begins a request"
        self._commands.answer(self._order.id, f"{len(self._prompts.requested)} prompts sampled")
        self._order = None
