"""Starts the processes of CPU lanes from one that has imported their libraries already.

Importing torch, diffusers, transformers, peft and DeepSpeed takes 4 to 5 seconds of CPU, and each process that does so
keeps some 280 MB of its own. A fork has them at once, and shares their memory until it writes to it.

```text
driver ─► starts the server (it imports) ─► job on its way, lanes asked for
raylet ─► fork_launch DEFAULT_WORKER ARGUMENTS ─► socket: arguments, environment, output files ─► server ─► fork
                                                                                                        └─► Ray worker
```

One server for each node, Ray session and version of the code. It ends by itself when it was idle for a while. Where no
server answers, `fork_launch` becomes the Ray worker itself, which then imports everything. So do lanes with
accelerators: a process that has touched its accelerator's driver cannot be forked, and what libraries ask it while they
are imported was never tried.
"""
