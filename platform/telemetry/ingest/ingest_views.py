"""The driver's HTTP interface: plain views with the run token, without session and CSRF. Statuses are those of
`worker.contracts.ingest`."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from catalog.base_models import ModelNotUsable
from catalog.prompt_pictures import PictureNotUsable
from runs.attempts.bootstrap import BootstrapRefused, prompts_of, trade_code
from runs.attempts.tokens import AttemptGone, TokenRefused, authorise
from telemetry.ingest.event_parsing import parse_batch
from telemetry.ingest.ingest import ingest
from telemetry.ingest.ingest_answers import bearer_token, guesses_held_back, json_answer, refusal, traded_code
from telemetry.ingest.ingest_errors import InvalidEvent, SequenceGap, StorageFull

View = Callable[..., HttpResponse]


def with_token_refusals(view: View) -> View:
    """The view, with 401 for a run token that is refused and 410 for one whose attempt is over."""

    @wraps(view)
    def answer(request: HttpRequest, **path: Any) -> HttpResponse:
        try:
            return view(request, **path)
        except TokenRefused as error:
            return refusal(401, str(error))
        except AttemptGone as error:
            return refusal(410, str(error))

    return answer


@guesses_held_back
@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    return traded_code(request, trade_code, {BootstrapRefused: 401, ModelNotUsable: 422})


@guesses_held_back
@require_GET
@with_token_refusals
def prompts(request: HttpRequest, run_id: UUID, attempt: int) -> HttpResponse:
    try:
        answer = prompts_of(authorise(run_id=run_id, attempt=attempt, token=bearer_token(request)))
    except PictureNotUsable as error:
        return refusal(422, str(error))
    return json_answer(answer)


@guesses_held_back
@csrf_exempt
@require_POST
@with_token_refusals
def events(request: HttpRequest, run_id: UUID, attempt: int) -> HttpResponse:
    try:
        answer = ingest(run_id=run_id, attempt=attempt, token=bearer_token(request), batch=parse_batch(request.body))
    except SequenceGap as error:
        return refusal(409, str(error), expected=error.expected)
    except StorageFull as error:
        return refusal(507, str(error))
    except InvalidEvent as error:
        return refusal(422, str(error), seq=error.seq, field=error.field)
    return json_answer(answer)
