"""The sabotaged demo: nothing that decides knows, and it is refused all the same."""

from pathlib import Path

import pytest

from tests.app.demos import demo, with_model
from tests.training.records import records
from training.pipeline import SABOTAGES


@pytest.mark.slow
@pytest.mark.model
def test_a_sabotaged_demo_is_refused_by_its_measured_gain(trained_tiny: Path, tmp_path: Path) -> None:
    home = with_model(trained_tiny, tmp_path)
    process = demo(home, "--sabotage", "shuffled-answers")
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 1
    [spoiled] = [one for one in records(home) if one["sabotage"] == "shuffled-answers"]
    assert spoiled["reason"].startswith("cross-fit gain: ")
    assert spoiled["crossfit"]["difference"]["value"] <= 0
    assert "cross-fit gain" in said


def test_only_what_spoils_the_data_reads_that_they_are_spoiled() -> None:
    import training

    readers = {
        path.name for path in Path(training.__file__).parent.glob("*.py") if "sabotage" in path.read_text().lower()
    }
    assert readers == {"campaign.py", "curate.py", "pipeline.py", "record.py"}
    from app.cli.demo import SABOTAGES as OFFERED

    assert OFFERED == SABOTAGES
