"""Reads Ascend NPUs through `npu-smi info`, the tool of their driver (Ascend HDK, "npu-smi command reference").

Each NPU has two lines of a table, the second one once for each of its chips:

```text
| 0     910B3               | OK            | 95.5        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 12          0    / 0          3368 / 65536         |
```

A chip is a device. Its number, which libraries know it by, is the `Phy-ID` beside its own where the tool prints one,
else its place in the table. A table of processes follows, which says what holds memory:

```text
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
| 0       0                 | 2264083       | python                   | 31234                   |
```

Invariant: a chip that the tool leaves out is reported lost and does not hide the others.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator

from worker.contracts.node_reports import GpuFaults, GpuIdentity, GpuLive, GpuReport, Vendor
from worker.node.readers.known_gpus import KnownGpus
from worker.node.readers.reader import NoDriverError, ReaderError

TOOL = "npu-smi"
TIMEOUT_SECONDS = 20.0
"""The tool takes about a second on a node of eight cards; a driver that fails lets it hang."""
MIB = 2**20
HEALTHY = "OK"
_VERSION = re.compile(r"Version:\s*(\S+)")
_ADDRESS = re.compile(r"^[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9]$")
_PROCESSES = "Process id"
"""What only the head of the table of processes holds."""
_USAGE = re.compile(r"(\d+)\s*/\s*(\d+)")


def ask_tool(tool: str) -> str:
    """What `npu-smi info` prints. Raises `ReaderError`."""
    try:
        asked = subprocess.run([tool, "info"], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReaderError(f"{TOOL}: {error}") from error
    if asked.returncode:
        raise ReaderError(f"{TOOL}: {' '.join((asked.stderr or asked.stdout).split())[:200]}")
    return asked.stdout


class AscendReader:
    """`tool` is the path of `npu-smi`, `ask` returns what it prints."""

    def __init__(self, tool: str, ask: Callable[[str], str] = ask_tool) -> None:
        """Raises `NoDriverError` where the tool finds no NPU."""
        self._tool, self._ask, self._known = tool, ask, KnownGpus()
        try:
            found = tuple(chips(self._ask(tool)))
        except ReaderError as error:
            raise NoDriverError(str(error)) from error
        if not found:
            raise NoDriverError(f"{TOOL} lists no NPU")

    def read(self) -> tuple[GpuReport, ...]:
        seen = {report.identity.uuid: report for report in chips(self._ask(self._tool))}
        if not seen:
            raise ReaderError(f"{TOOL} lists no NPU any more")
        return self._known.with_lost(seen.values(), seen.keys())

    def close(self) -> None:
        """Nothing is held between readings."""


def chips(printed: str) -> Iterator[GpuReport]:
    """The chips of a table."""
    version, num_processes = _VERSION.search(printed), _num_processes(printed)
    card: list[list[str]] = []
    number = 0
    for cells in _rows(printed.partition(_PROCESSES)[0]):
        if len(cells) != 3 or not all(cells):
            continue
        if _ADDRESS.match(cells[1][0]):
            if card:
                yield _report(card, cells, number, version[1] if version else "", num_processes)
                number += 1
        elif cells[0][0].isdecimal() and len(cells[0]) > 1:
            card = cells


def _rows(printed: str) -> Iterator[list[list[str]]]:
    """The words of each cell, by line."""
    for line in printed.splitlines():
        yield [cell.split() for cell in line.strip().strip("|").split("|")]


def _num_processes(printed: str) -> Counter[tuple[str, str]] | None:
    """Processes by NPU and chip, as the table numbers them; `None` where there is no such table."""
    _, header, listed = printed.partition(_PROCESSES)
    if not header:
        return None
    rows = [cells for cells in _rows(listed) if len(cells) == 4 and len(cells[0]) == 2]
    return Counter((npu, chip) for (npu, chip), process, *_ in rows if process and process[0].isdecimal())


def _report(
    card: list[list[str]],
    chip: list[list[str]],
    place: int,
    driver: str,
    num_processes: Counter[tuple[str, str]] | None,
) -> GpuReport:
    """`card` and `chip`: the words of the three cells of each line."""
    address, usages = chip[1][0].lower(), _USAGE.findall(" ".join(chip[2]))
    # The last usage is that of HBM; cards without it have one usage, of their DDR memory.
    used, total = (int(number) * MIB for number in usages[-1]) if usages else (None, None)
    health = " ".join(card[1])
    return GpuReport(
        identity=GpuIdentity(
            uuid=f"NPU-{address}",
            index=int(chip[0][1]) if len(chip[0]) > 1 else place,
            vendor=Vendor.ASCEND,
            model=f"Ascend {card[0][1]}",
            memory_bytes=total,
            pci_address=address,
            driver=driver,
        ),
        live=GpuLive(
            utilisation=None if (share := _number(chip[2][0])) is None else min(share / 100, 1.0),
            memory_used_bytes=used,
            temperature=_number(card[2][1]),
            power=_number(card[2][0]),
            num_processes=None if num_processes is None else num_processes[card[0][0], chip[0][0]],
        ),
        faults=GpuFaults(recovery_action="" if health == HEALTHY else f"a look, its health is {health}"),
    )


def _number(word: str) -> float | None:
    """`None` for what a card does not offer, which the tool prints as `-` or `NA`."""
    try:
        return float(word)
    except ValueError:
        return None
