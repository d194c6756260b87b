"""Posts reports to the web. One that does not arrive is not sent again, since the next is newer."""

import logging

from worker.contracts.node_reports import AGENT_HEADER, REPORTS_PATH, AgentBootstrapAnswer, NodeReports
from worker.ingest.web_connection import FencedError, WebConnection, WebRefusedError, WebUnreachableError

logger = logging.getLogger(__name__)


class Reporter:
    """The agent's connection to the web."""

    def __init__(self, base_url: str, answer: AgentBootstrapAnswer) -> None:
        self._connection = WebConnection(base_url, answer.token)
        self._headers = {"Content-Type": "application/json", AGENT_HEADER: str(answer.session)}
        self._is_reached = True

    def post(self, reports: NodeReports) -> None:
        """Send the reports.

        Raises:
            FencedError: a newer agent has taken over.
            WebRefusedError: the token or the reports are refused.
        """
        try:
            answer = self._connection.send("POST", REPORTS_PATH, reports.model_dump_json().encode(), self._headers)
        except WebUnreachableError as error:
            if self._is_reached:
                logger.warning("the web is not reached, reports are dropped until it is: %s", error)
            self._is_reached = False
            return
        if answer.status == 410:
            raise FencedError(answer.text)
        if 400 <= answer.status < 500:
            raise WebRefusedError(f"reports were refused ({answer.status}): {answer.text}")
        self._is_reached = answer.is_success
