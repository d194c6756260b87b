"""What `manage.py up` and `manage.py demo` do, step by step."""
