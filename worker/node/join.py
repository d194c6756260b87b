"""`python -m worker.node join HEAD`: starts Ray on this machine as a node of the pool, until Ctrl-C.

    GPUs by their driver ─► one custom Ray resource each, and labels with the node's name ─► `ray start --block`

The node agent finds the node by itself. This process becomes Ray: it needs the head's address and token, and sees
neither Django nor a database password.
"""

import argparse
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from worker.contracts.lanes import gpu_resource
from worker.contracts.node_reports import CPU_LANES_LABEL, DEFAULT_NUM_CPU_LANES, NODE_LABEL, GpuReport
from worker.contracts.private_variables import PRIVATE_VARIABLES
from worker.node.naming import host_name
from worker.node.readers.detection import offered, reader_of_this_node
from worker.node.readers.reader import ReaderError

NUM_CPUS = 64
"""CPUs that Ray may give out: lanes, not Ray's count, limit how much runs at once."""
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_worker_prestart": "0",
    # A lane's process sets its visible devices itself, so Ray must not clear them for an actor without GPUs.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
RAY_START = Path(__file__).with_name("ray_start.py")


def join(arguments: Sequence[str]) -> None:
    """Replace this process by Ray. Exits with a message where the arguments are wrong or the GPUs cannot be read."""
    asked = _parser().parse_args(arguments)
    reader = reader_of_this_node()
    try:
        gpus = offered(reader.read())
    except ReaderError as error:
        raise SystemExit(f"the GPUs of this machine cannot be offered: {error}") from error
    reader.close()
    name = host_name(asked.name or socket.gethostname(), ())
    command = ray_command(asked.head, name, gpus, asked.num_cpu_lanes)
    print(f"{name} joins {asked.head} with {len(gpus)} GPUs{_models(gpus)} and {asked.num_cpu_lanes} CPU lanes")
    sys.stdout.flush()
    os.execve(command[0], command, environment(os.environ))


def ray_command(head: str, name: str, gpus: Sequence[GpuReport], num_cpu_lanes: int) -> list[str]:
    """The command that starts Ray here. MIG slices share the resource of their card, one unit each."""
    resources = Counter(gpu_resource(name, gpu.identity.index) for gpu in gpus)
    options = {
        "address": head,
        "num-cpus": NUM_CPUS,
        "num-gpus": 0,
        "resources": json.dumps(resources),
        "labels": f"{NODE_LABEL}={name},{CPU_LANES_LABEL}={num_cpu_lanes}",
    }
    flags = [f"--{option}={value}" for option, value in options.items()]
    # Not the command `ray`, whose first line may name an interpreter in a moved folder.
    return [sys.executable, "-P", str(RAY_START), "start", "--block", "--disable-usage-stats", *flags]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment of Ray: what was inherited without the web's secrets; a token means that the head wants it.

    Jobs that run here, such as tests of its GPUs, begin with `python`: this interpreter's folder comes first in `PATH`,
    because nobody need have activated its environment.
    """
    kept = {name: value for name, value in inherited.items() if name not in PRIVATE_VARIABLES}
    has_token = kept.get("RAY_AUTH_TOKEN") or kept.get("RAY_AUTH_TOKEN_PATH")
    path = os.pathsep.join(filter(None, [str(Path(sys.executable).parent), kept.get("PATH", "")]))
    return {**kept, **ENVIRONMENT, "PATH": path, **({"RAY_AUTH_MODE": "token"} if has_token else {})}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m worker.node join",
        description="Make this machine a node of the pool. The head's token comes in RAY_AUTH_TOKEN.",
    )
    parser.add_argument("head", type=_address, help="HOST:PORT of the Ray head; the Pool page shows it.")
    parser.add_argument("--name", default="", help="Name in the pool; by default the host's.")
    parser.add_argument(
        "--num-cpu-lanes",
        type=_count,
        default=DEFAULT_NUM_CPU_LANES,
        help="CPU lanes when the pool first hears of the node: for rewards, and without GPUs for everything.",
    )
    return parser


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit():
        raise argparse.ArgumentTypeError(f"`head` must be HOST:PORT, got {text!r}: the Pool page shows it")
    return text


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"`--num-cpu-lanes` must be a number ≥ 0, got {text!r}")
    return int(text)


def _models(gpus: Sequence[GpuReport]) -> str:
    counts = Counter(gpu.identity.model for gpu in gpus)
    return f" ({', '.join(f'{number} × {model}' for model, number in counts.items())})" if counts else ""
