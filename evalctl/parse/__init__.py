"""What a model wrote, read: one parser each, for scorers, loaders, rewards and replay alike.

Every parser is linear in its input, never evaluates anything, and tells what is ambiguous or malformed
instead of guessing. Input longer than `text.MAX_CHARS` is refused, not cut.
"""
