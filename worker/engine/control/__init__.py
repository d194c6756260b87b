"""The parts the controller is made of: lanes and their clocks, calls under way, what is generated and reported."""
