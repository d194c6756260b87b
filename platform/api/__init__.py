"""REST v1: views parse a request, call a service or a selector, and render. They hold no rules of their own."""
