"""The command line `tandem`."""
