# Written by `generate.py` from `asynchronous/client.py`.
"""`Client`: everything that the package does on a server."""

import os
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any

import httpx

from tandem import rest_models
from tandem.synchronous.account_calls import Prompts, Tokens
from tandem.synchronous.operation_calls import Operations
from tandem.synchronous.pool_calls import Pool
from tandem.synchronous.retention_calls import Retention
from tandem.synchronous.run_calls import Runs
from tandem.synchronous.session import Session
from tandem.synchronous.sweep_calls import Sweeps
from tandem.contexts import chosen_context
from tandem.protocol import API, Spec, server_address, spec_document, text_of

TIMEOUT_SECONDS = 60.0
"""The slowest answer is a plan, which may take tens of seconds."""
USAGE_DAYS = 30


class Client:
    """A Tandem server, as one token sees it. Use it with `with`, or call `close()` at the end.

    Args:
        url: the server's address; without it, that of `context`.
        token: an API token; without it, that of `context`.
        context: a name given to `tandem login`; without one, `TANDEM_URL` and `TANDEM_TOKEN`, or the current context.
        timeout: seconds without an answer after which a request counts as failed.
        transport: httpx's own, for instance of an ASGI application.
    """

    def __init__(
        self,
        url: str = "",
        token: str = "",
        *,
        context: str = "",
        timeout: float = TIMEOUT_SECONDS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not (url and token):
            known = chosen_context(context)
            url, token = url or known.url, token or known.token
        self.url = server_address(url)
        self._session = Session(self.url, token, timeout, transport)
        self.runs = Runs(self._session)
        self.sweeps = Sweeps(self._session)
        self.pool = Pool(self._session)
        self.retention = Retention(self._session)
        self.operations = Operations(self._session)
        self.tokens = Tokens(self._session)
        self.prompts = Prompts(self._session)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def me(self) -> rest_models.Me:
        """The user whose token this is."""
        return rest_models.Me.model_validate(self._session.get(f"{API}/me"))

    def projects(self) -> list[rest_models.Project]:
        items = self._session.items(f"{API}/projects")
        return [rest_models.Project.model_validate(item) for item in items]

    def plan(self, spec: Spec) -> rest_models.PlanPreview:
        """What the planner would choose for `spec` on the pool's lanes, and how fast it expects that to be."""
        answer = self._session.post(f"{API}/plans", {"spec": spec_document(spec)})
        return rest_models.PlanPreview.model_validate(answer)

    def validate(self, spec: Spec) -> rest_models.Validation:
        """Every error of `spec` by field, or the spec written out."""
        document = spec_document(spec)
        body: dict[str, Any] = {"yaml": document} if isinstance(document, str) else {"spec": document}
        return rest_models.Validation.model_validate(self._session.post(f"{API}/runs:validate", body))

    def import_configuration(
        self, source: str | os.PathLike[str], *, kind: str = "", function: str = "", num_gpus: int | None = None
    ) -> rest_models.ImportedSpec:
        """A configuration of another trainer as a spec, with what was carried and what was left out. It holds no
        prompts, and that of diffusers no rewards.

        Args:
            source: the text, or the path of its file (a `Path`, since a `str` is the text itself).
            kind: flow_grpo or diffusers; by default what the text looks like.
            function: of a file of flow_grpo: the one to read. Without one, only `functions` are answered, which names
                them.
            num_gpus: of flow_grpo: how many it was run on, where the file does not say it.
        """
        body = {"kind": kind or None, "source": text_of(source), "function": function, "num_gpus": num_gpus}
        return rest_models.ImportedSpec.model_validate(self._session.post(f"{API}/runs:import", body))

    def rewards(self) -> list[rest_models.Reward]:
        """Every scorer that a spec can name, with its range, settings and weights."""
        items = self._session.items(f"{API}/rewards")
        return [rest_models.Reward.model_validate(item) for item in items]

    def reward(self, name: str) -> rest_models.Reward:
        """One of them. Raises `NotFound`, which lists them."""
        return rest_models.Reward.model_validate(self._session.get(f"{API}/rewards/{name}"))

    def queue(self, *, pool: str = "") -> list[rest_models.QueuedRun]:
        """The runs that wait, in the order in which they are served."""
        items = self._session.items(f"{API}/queue", pool=pool)
        return [rest_models.QueuedRun.model_validate(item) for item in items]

    def usage(
        self, by: str = "project", *, since: datetime | None = None, until: datetime | None = None
    ) -> list[rest_models.UsageRow]:
        """Lane hours, GPU hours and cost, by default of the last 30 days.

        Args:
            by: project, user, accelerator, base_model, pool, node, run or day.
            since: begin of the window, with its time zone.
            until: end of the window, not included.
        """
        end = until or datetime.now(timezone.utc)  # noqa: UP017 - Python 3.10 has no `datetime.UTC`
        begin = since or end - timedelta(days=USAGE_DAYS)
        items = self._session.items(f"{API}/usage", by=by, since=begin, until=end)
        return [rest_models.UsageRow.model_validate(item) for item in items]
