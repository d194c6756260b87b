"""The node agent's entry point: `python -m worker.node`, submitted as a job through Ray's Jobs API. With `join` it
makes this machine a node of the pool instead, see `worker.node.join`.

It exchanges its single-use code for a token and reports until a newer agent has taken over. The exit status is 0 then.
"""

import logging
import sys

import ray

from worker.contracts.ingest import BootstrapRequest
from worker.contracts.node_reports import AGENT_BOOTSTRAP_PATH, AgentBootstrapAnswer
from worker.ingest.web_connection import FencedError, WebConnection, WebRefusedError, ask, job_environment
from worker.node.agent import NodeAgent
from worker.node.join import join
from worker.node.reporting import Reporter

logger = logging.getLogger("worker.node")


def main() -> int:
    if sys.argv[1:2] == ["join"]:
        join(sys.argv[2:])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    base_url, code = job_environment()
    try:
        body = BootstrapRequest(code=code).model_dump_json().encode()
        found = ask(WebConnection(base_url), "POST", AGENT_BOOTSTRAP_PATH, body)
        answer = AgentBootstrapAnswer.model_validate_json(found)
        ray.init(address="auto", log_to_driver=False)
        NodeAgent(answer, Reporter(base_url, answer).post).run()
    except FencedError as error:
        logger.info("a newer agent reports: %s", error)
    except WebRefusedError as error:
        logger.error("the web refuses this agent: %s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
