"""How an answer is judged: one way each, in one table."""
