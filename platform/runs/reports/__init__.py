"""What drivers report of their runs, written to the rows."""
