"""The controller's components: lanes and their clocks, pending calls, stores of what is generated, and reporters."""
