"""Stands for the ranks of a gang in the tests of `Gang`: reports a row, then ends as it is told."""

import sys

from tests.bench.gpu.rank_reports import reporter

FAILS = "fails"


def main(rank: int, size: int, ending: str) -> None:
    print("what a library prints while it is imported")
    report = reporter()
    print("what a library prints later")
    if rank == 0:
        report({"rank": rank, "size": size})
    if ending == FAILS and rank == size - 1:
        raise RuntimeError("the last rank's own words")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[4])
