"""What node agents report, judged and written."""
