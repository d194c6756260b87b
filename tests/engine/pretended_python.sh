#!/bin/sh
# Stands for Python in processes of the kit on pretended cards. DeepSpeed says on standard output which accelerator it
# has found, unless it is told.
export DS_ACCELERATOR=cpu
if [ "$1" = "-m" ]; then
    shift
    exec "$PRETENDED_PYTHON" -m tests.engine.run_on_pretend_card "$@"
fi
exec "$PRETENDED_PYTHON" "$@"
