"""What several tests need and is dear to make: once a session."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def trained_tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trained tiny model: some minutes of one core."""
    pytest.importorskip("torch", reason="needs the extra `local`")
    from training.tiny import tiny_model

    return tiny_model(tmp_path_factory.mktemp("trained") / "tiny")
