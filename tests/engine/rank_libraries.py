"""What the server imports that rank processes are forked from: what lanes on CPUs are forked with."""

from worker.engine.forkserver.server import import_libraries

import_libraries()
