"""`python -m worker.engine.emulated EMULATION.json`: an attempt of a run on lanes that wait instead of computing.

Bootstrap, cluster, controller and telemetry are those of `python -m worker.engine`. The file holds an `Emulation`.
"""

import sys
from pathlib import Path

from worker.engine.__main__ import main
from worker.engine.emulated.actors import emulated_actors
from worker.engine.emulated.timing import Emulation

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m worker.engine.emulated EMULATION.json")
    sys.exit(main(emulated_actors(Emulation.model_validate_json(Path(sys.argv[1]).read_text()))))
