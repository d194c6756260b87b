"""A client: its connection, its calls, and the runs that they give."""
