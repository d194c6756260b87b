"""The one error that ends `up` with a plain message instead of a traceback."""


class CannotStartError(RuntimeError):
    """The stack cannot start or go on. The message says what is wrong and what to do."""
