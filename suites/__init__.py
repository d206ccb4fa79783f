"""What is measured: suites are folders with a version, in one table."""
