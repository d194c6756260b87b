"""Training: from complete groups to optimizer steps, published weights, checkpoints and exports.

```text
rank.py                the trainer rank, which the rooms below are parts of
  generation_switch.py   turning to generation and back
  learners/              from a group to the loss of a micro-batch
    policy/                the models of the rank: trained, generating, older, reference, averages
      checkpoints/ export.py
        zero/                  what Tandem adds to DeepSpeed ZeRO
```

Each imports only what stands further in.
"""
