"""The exchange of the bootstrap code for spec, lanes and run token, and the run's prompts."""

from worker.contracts.ingest import BOOTSTRAP_PATH, PROMPTS_PATH, BootstrapAnswer, BootstrapRequest, PromptsAnswer
from worker.contracts.prompts import Prompt
from worker.ingest.web_connection import WebConnection, ask


def trade_bootstrap_code(base_url: str, code: str) -> BootstrapAnswer:
    """Exchange the single-use code for spec, lanes and run token.

    Raises:
        FencedError: the run has ended or a newer attempt exists.
        WebRefusedError: the code is unknown, used or expired.
        WebUnreachableError: the web did not answer in `MAX_BOOTSTRAP_TRIES` tries.
    """
    body = BootstrapRequest(code=code).model_dump_json().encode()
    return BootstrapAnswer.model_validate_json(ask(WebConnection(base_url), "POST", BOOTSTRAP_PATH, body))


def fetch_prompts(base_url: str, answer: BootstrapAnswer) -> tuple[Prompt, ...]:
    """The prompts of the run that was bootstrapped. Raises as `trade_bootstrap_code` does."""
    path = PROMPTS_PATH.format(run=answer.run, attempt=answer.attempt)
    return PromptsAnswer.model_validate_json(ask(WebConnection(base_url, answer.token), "GET", path)).prompts
