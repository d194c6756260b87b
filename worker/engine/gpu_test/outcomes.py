"""How a step says that it did not pass. One that returns has passed, and returns what it measured as a sentence."""


class StepFailedError(Exception):
    """The device does not do what it should."""


class StepSkippedError(Exception):
    """The step cannot be tried here, which says nothing about the device."""
