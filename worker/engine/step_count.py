"""How far this process is with its work, for whoever watches that it goes on.

A lane is a process, and what it computes is made of steps: a tensor is loaded, a prompt is encoded, its transformer
predicts, latents are decoded. On an accelerator the count runs ahead of the device by as many launches as its queue
holds, and no further.
"""

_num_steps = 0


def advance() -> None:
    """Note that such a step begins."""
    global _num_steps
    _num_steps += 1


def num_steps() -> int:
    """Steps that this process has begun."""
    return _num_steps
