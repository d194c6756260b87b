"""Wall clocks of a stack that a bench can step: one of the web's processes, one of the cluster's.

`stepped_clock.c` says how, and what is not stepped with them.
"""

import mmap
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
CLOCKS = struct.Struct("=dd")


@dataclass(frozen=True, slots=True)
class SteppedClocks:
    library: Path
    _offsets: mmap.mmap

    @classmethod
    def build(cls, folder: Path) -> "SteppedClocks | None":
        """Compile the library and set both clocks right; None without a C compiler."""
        compiler = shutil.which("cc")
        if compiler is None:
            return None
        library, clocks = folder / "stepped_clock.so", folder / "clocks"
        command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        clocks.write_bytes(CLOCKS.pack(0.0, 0.0))
        with clocks.open("r+b") as file:
            return cls(library, mmap.mmap(file.fileno(), CLOCKS.size))

    @property
    def environment(self) -> dict[str, str]:
        """What a stack's processes need to read these clocks."""
        return {"LD_PRELOAD": str(self.library), "CHAOS_CLOCKS": str(self.library.with_name("clocks"))}

    def step(self, *, web_seconds: float = 0.0, cluster_seconds: float = 0.0) -> None:
        """Set both clocks so far from the right time."""
        self._offsets[:] = CLOCKS.pack(web_seconds, cluster_seconds)
