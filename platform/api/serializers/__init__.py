"""The bodies of REST v1: what is accepted, and how rows are rendered. Answers that are plain JSON are typed
dictionaries instead, defined beside the function that makes them.
"""
