"""`python -m worker.engine.emulated EMULATION.json`: an attempt like any other, on lanes that wait instead of working.

Bootstrap, cluster, controller and telemetry are those of `python -m worker.engine`.
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
