"""Where untrusted commands run: a backend each, in one table."""
