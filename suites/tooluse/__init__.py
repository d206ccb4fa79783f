"""The suite `tooluse`: single-turn function calls."""
