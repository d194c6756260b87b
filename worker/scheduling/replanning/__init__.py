"""Plans made while a run works, from what it has measured. See the docstring of `decision`."""
