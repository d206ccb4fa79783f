"""The suite `arithmetic`: sums of three-digit numbers."""
