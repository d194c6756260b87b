"""What is checked before a run is started: each thing that is known to stop, delay or break runs, one by one."""
