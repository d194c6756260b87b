"""`python -m worker.scheduling.replay LOG.jsonl.gz`: replay a run's schedule log and say whether all is the same.

The log comes from the run page's menu, or from `GET /api/v1/runs/{run}/schedule`.
"""

import argparse
import gzip
import sys
from collections.abc import Sequence

from worker.scheduling.core.protocol import ProtocolError
from worker.scheduling.replay.replay import Difference, Replay
from worker.scheduling.replay.schedule_log import Asked, dump_line, parse_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 where every action is the recorded one, 1 at the first difference or event that does not fit."""
    parser = argparse.ArgumentParser(prog="python -m worker.scheduling.replay", description=__doc__)
    parser.add_argument("log", help="a run's schedule log, gzip-compressed lines of JSON")
    parser.add_argument("--print", action="store_true", dest="prints", help="print every line as it is replayed")
    options = parser.parse_args(arguments)
    replay = Replay()
    with gzip.open(options.log, "rt", encoding="utf-8") as file:
        for text in file:
            if options.prints:
                print(text, end="")
            try:
                difference = replay.step(parse_line(text))
            except ProtocolError as error:
                print(f"line {replay.num_lines}: {error}\nThe run failed here, or a part of its log is missing before.")
                return 1
            if difference is not None:
                print(_described(difference))
                return 1
    print(
        f"{replay.num_lines} lines: {replay.num_starts} schedulers, {replay.num_events} events, "
        f"{replay.num_actions} actions, all as recorded"
    )
    return 0


def _described(difference: Difference) -> str:
    recorded, replayed = (dump_line(Asked(difference.at, side)) for side in (difference.recorded, difference.replayed))
    return f"line {difference.line} differs:\n  recorded {recorded}\n  replayed {replayed}"


if __name__ == "__main__":
    sys.exit(main())
