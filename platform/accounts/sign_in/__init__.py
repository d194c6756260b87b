"""How people sign in: by password and second factor, or by providers of OpenID Connect; django-allauth does the work.

The adapters here are what allauth asks: who may, in which words, and what the audit log keeps. Addresses and pages are
the dashboard's.
"""
