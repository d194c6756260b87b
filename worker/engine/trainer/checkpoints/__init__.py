"""Resumable checkpoints under any fsspec URL, written by any number of ranks in any ZeRO stage and read by any other.

```text
<uri>/manifest.json                 written last: every file's size, sha256 and fragments; counters; its own sha256
<uri>/rank-<rank>-<n>.safetensors   this rank's fragments of weights, moments and shadow weights, by parameter name
<uri>/random-<rank>.json            random states of one rank
<uri>/behaviour-<n>.safetensors     the version that the next batch had begun on, where it is older than the weights

saving.py ─► staging.py                      files to a temporary place, fsynced; the manifest; renamed
loading.py ─► stored_checkpoint.py           files verified, then fragments read; a damaged checkpoint is passed over
    both: training_state.py, manifest.py, random_state.py, agreement.py
```

Each rank writes what it holds and reads what it needs, so no rank ever gathers a full tensor. Invariants: a checkpoint
is complete or not there at all; nothing unverified is loaded; nothing is pickled. Loaded by as many ranks in the same
stage, training goes on bit for bit; by others, optimizer state and weights are the same bits and only the order of sums
over ranks differs.
"""
