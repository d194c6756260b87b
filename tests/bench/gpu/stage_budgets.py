"""The stages in order, each with its title and its budget; imports nothing, so that the supervisor starts at once.

The budgets of one card add up to less than ten minutes. `ranks` needs two cards or a CPU.
"""

BUDGETS: dict[str, tuple[str, float]] = {
    "ceilings": ("products, copies, shared memory", 25.0),
    "forward": ("forward passes of the main model", 115.0),
}
"""By name: title, and the seconds after which no further case of the stage begins."""
