"""Commands that users gave to runs, as operations.

A driver answers a pause, a stop or a cancel before it has carried it out, so these go on until the run's history shows
the state that they lead to.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery, Value, When

from accounts.access import TO_CONTROL_RUNS, require_role, visible_projects
from accounts.models import User
from operations.operation_body import OperationBody, OperationState
from operations.operation_source import OperationConflict, OperationSource, Reader, state_of
from operations.run_targets import NOT_READ_OF_RUNS, name_of, run_target
from runs.legal_actions import legal_actions
from runs.models import PendingCommand, RunTransition
from runs.operation_ids import OperationKind
from worker.contracts.commands import CommandKind
from worker.contracts.states import END_STATES, RunState

ENDED = [state.value for state in END_STATES]
ENDINGS = (CommandKind.STOP.value, CommandKind.CANCEL.value)
LED_TO = {CommandKind.PAUSE.value: RunState.PAUSED.value, CommandKind.RESUME.value: RunState.RUNNING.value}
"""The state that a run is in once a command that does not end it is carried out; its end comes before for some."""
RESULTS = {CommandKind.SAMPLE_NOW: "/samples?purpose=requested", CommandKind.CHECKPOINT_NOW: "/checkpoints"}
"""What comes of a command, below the run; the run itself for any other."""


class CommandOperations(OperationSource[PendingCommand]):
    kind = OperationKind.COMMAND
    audited: ClassVar[Mapping[str, str]] = {
        f"run.{kind}": "command" for kind in CommandKind if kind is not CommandKind.RESIZE
    }

    def rows(self, user: User) -> QuerySet[PendingCommand]:
        """Those that a user gave, without resizes, which have rows of their own."""
        rows = PendingCommand.objects.filter(run__project__in=visible_projects(user), created_by__isnull=False)
        rows = rows.exclude(kind=CommandKind.RESIZE).select_related("run__project", "created_by")
        rows = rows.defer(*NOT_READ_OF_RUNS).annotate(reached=_reached("new"), reached_at=_reached("at"))
        # What the web did itself was never delivered, and was done at once.
        is_carried_out = Q(delivered_at=None) | ~Q(kind__in=[*ENDINGS, *LED_TO])
        is_reached = Q(kind__in=ENDINGS) | Q(reached=_led_to())
        return rows.annotate(
            operation_state=Case(
                When(accepted=False, then=Value(OperationState.FAILED)),
                When(Q(accepted=True) & is_carried_out, then=Value(OperationState.SUCCEEDED)),
                When(accepted=True, reached=None, then=Value(OperationState.RUNNING)),
                When(Q(accepted=True) & is_reached, then=Value(OperationState.SUCCEEDED)),
                When(accepted=True, then=Value(OperationState.FAILED)),
                When(delivered_at=None, then=Value(OperationState.WAITING)),
                default=Value(OperationState.RUNNING),
                output_field=CharField(),
            ),
        )

    def may_be_under_way(self) -> Q:
        return Q(accepted=None) | Q(accepted=True) & ~Q(run__state__in=ENDED)

    def bodies(self, reader: Reader, rows: Sequence[PendingCommand]) -> list[OperationBody]:
        return [self._body(row) for row in rows]

    def _body(self, row: PendingCommand) -> OperationBody:
        reached = vars(row)["reached"]
        has_failed = state_of(row) is OperationState.FAILED
        return self.made(
            row,
            action=row.kind,
            target=run_target(row.run),
            project=row.run.project_id,
            requested_by=name_of(row.created_by),
            times=(row.created_at, row.delivered_at, (row.delivered_at and vars(row)["reached_at"]) or row.done_at),
            detail="" if has_failed else row.detail,
            problem=f"the run was {reached} before" if row.accepted else row.detail,
            result=f"/api/v1/runs/{row.run_id}{RESULTS.get(CommandKind(row.kind), '')}",
        )

    def audited_object(self, row: PendingCommand) -> tuple[str, str]:
        return "run", str(row.run_id)

    def require(self, user: User, row: PendingCommand) -> None:
        require_role(user, row.run.project, TO_CONTROL_RUNS)

    def cancel(self, user: User, row: PendingCommand) -> None:
        legal = [action.value for action in legal_actions(row.run)]
        possible = f"give it one of {', '.join(legal)}" if legal else "wait until it has ended"
        raise OperationConflict(state_of(row), f"a command that a run was given stands; {possible}", legal)


def _led_to() -> Case:
    return Case(
        *(When(kind=kind, then=Value(state)) for kind, state in LED_TO.items()), default=None, output_field=CharField()
    )


def _reached(column: str) -> Subquery:
    """The first state after the command that it leads to, or the run's end, whichever was first."""
    after = RunTransition.objects.filter(run=OuterRef("run"), at__gte=OuterRef("created_at"))
    wanted = Q(new__in=ENDED, asked__in=[*ENDINGS, *LED_TO])
    for kind, state in LED_TO.items():
        wanted |= Q(asked=kind, new=state)
    found = after.annotate(asked=ExpressionWrapper(OuterRef("kind"), CharField())).filter(wanted).order_by("stream_seq")
    return Subquery(found.values(column)[:1])
