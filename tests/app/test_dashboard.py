"""The dashboard shows the report's figures, on loopback only, and looks whole in a real browser."""

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.cli import dashboard
from app.cli.root import dispatch
from evalctl.gate.verdict import Decision
from evalctl.store.files import make_folder, write_json
from tests.app.stores import filled
from tests.browser import Browser, chromium
from tests.reports.campaigns import begun, progress, record, refused
from tests.reports.pages import finding, verdict

streamlit_testing = pytest.importorskip("streamlit.testing.v1", reason="Streamlit is not installed")
SCRIPT = Path(dashboard.__file__).parent.parent / "dashboard.py"
REGRESSED = verdict(Decision.REGRESSED, finding(Decision.REGRESSED, "arithmetic"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def opened() -> "streamlit_testing.AppTest":
    app = streamlit_testing.AppTest.from_file(str(SCRIPT), default_timeout=60).run()
    assert not app.exception
    return app


def text(app: "streamlit_testing.AppTest") -> str:
    return "".join(element.proto.body for element in app.get("html"))


def test_the_page_shows_verdict_matrix_time_line_and_the_pair(home: Path) -> None:
    filled(home, REGRESSED)
    app = opened()
    said = text(app)
    assert "tuned is worse than base: arithmetic changed by −22.0 points" in said
    assert [said.index(part) for part in ("Checkpoints and suites", "Over time", "tuned minus base")] == sorted(
        said.index(part) for part in ("Checkpoints and suites", "Over time", "tuned minus base")
    )
    assert "<svg" not in said
    assert said.count('<img class="strip"') == 4
    assert len(app.markdown) == 0
    assert re.search(r'alt="Candidate minus baseline\..*arithmetic: −22\.0 points', said)


def test_two_other_checkpoints_can_be_chosen(home: Path) -> None:
    filled(home, REGRESSED)
    app = opened()
    app.selectbox(key="baseline").select_index(0)
    app.selectbox(key="candidate").select_index(1).run()
    assert not app.exception
    assert "No gate has judged base against tuned." in text(app)
    app.selectbox(key="candidate").select_index(0).run()
    assert [info.value for info in app.info] == ["Choose two different checkpoints."]


def test_an_empty_store_says_what_to_do(home: Path) -> None:
    app = opened()
    assert "evalctl run" in app.info[0].value
    assert not home.exists()


def test_a_campaign_that_runs_stands_on_top_even_before_the_first_run(home: Path) -> None:
    folder = make_folder(home / "campaigns" / "0f0f0f0f0f0f")
    write_json(folder / "campaign.json", begun())
    write_json(folder / "progress.json", progress())
    with (folder / "campaign.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = text(opened())
    assert "▸ RUNNING" in said
    assert "step 5 of 7" in said
    assert "about 1 min 20 s left" in said
    assert said.index("▸ RUNNING") < said.index("Training on failures")
    assert "▸ RUNNING" not in text(opened())


def test_finished_campaigns_are_shown_whole_and_any_of_them_can_be_chosen(home: Path) -> None:
    filled(home, REGRESSED)
    write_json(make_folder(home / "campaigns" / "one") / "record.json", record())
    app = opened()
    assert "✓ PROMOTED" in text(app)
    assert re.search(r'alt="Candidate minus baseline\..*all folds, cross-fitted: \+41\.2 points', text(app))
    write_json(make_folder(home / "campaigns" / "two") / "record.json", refused() | {"id": "b0", "created": "2026-04"})
    app = opened()
    assert "■ REFUSED" in text(app)
    app.selectbox(key="campaign").select_index(1).run()
    assert "✓ PROMOTED" in text(app)
    assert "■ REFUSED" not in text(app)


def test_a_campaign_that_cannot_be_read_is_named_and_the_page_goes_on(home: Path) -> None:
    filled(home, REGRESSED)
    write_json(make_folder(home / "campaigns" / "one") / "record.json", record(conditions=[{}]))
    app = opened()
    assert "a1b2c3d4e5f6" in app.warning[0].value
    assert "tuned is worse than base" in text(app)


def test_it_binds_to_loopback_reports_nothing_and_offers_no_other_address() -> None:
    given = dashboard.arguments(8600)
    assert "--server.address=127.0.0.1" in given
    assert "--browser.gatherUsageStats=false" in given
    assert "--server.headless=true" in given
    assert [option.name for option in dashboard.command.params] == ["port"]


def test_a_port_in_use_is_told_with_the_mend(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server((dashboard.ADDRESS, 0)) as one:
        assert dispatch(["app", "--port", str(one.getsockname()[1])]) == 2
    assert "--port" in capsys.readouterr().err


def test_without_streamlit_one_line_names_the_command_that_brings_it() -> None:
    start = "sys.argv[1:] = ['app']; from app.cli import main; sys.exit(main())"
    program = f"import sys; sys.modules['streamlit'] = None; {start}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "pip install" in ended.stderr


@contextmanager
def served(home: Path) -> Iterator[str]:
    with socket.create_server((dashboard.ADDRESS, 0)) as free:
        port = free.getsockname()[1]
    program = f"import sys; sys.argv[1:] = ['app', '--port', '{port}']; from app.cli import main; sys.exit(main())"
    environment = {**os.environ, "EVALCTL_HOME": str(home)}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not dashboard.taken(port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield f"http://{dashboard.ADDRESS}:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.mark.browser
@pytest.mark.slow
def test_in_a_real_browser_everything_is_drawn_and_nothing_leaves_the_machine(home: Path, tmp_path: Path) -> None:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    filled(home, REGRESSED)
    with served(home) as address, Browser(program) as browser:
        browser.view(1200)
        browser.open(address, "document.querySelector('[data-testid=stCaptionContainer]')")
        browser.wait("[...document.images].length >= 7 && [...document.images].every(i => i.complete)")
        assert browser.evaluate("[...document.images].every(i => i.naturalWidth > 50)")
        assert browser.evaluate("document.documentElement.scrollWidth <= 1200")
        hosts = {url.split("/")[2] for url in browser.requests if url.startswith(("http", "ws"))}
        assert hosts == {address.split("/")[2]}
        browser.shot(tmp_path / "dashboard.png")
        assert (tmp_path / "dashboard.png").stat().st_size > 10_000


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_fits_its_window_and_obeys_its_own_policy(home: Path, width: int, dark: bool) -> None:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    filled(home, REGRESSED)
    page = home.parent / "page.html"
    assert dispatch(["report", "--out", str(page)]) == 0
    with Browser(program) as browser:
        browser.view(width, dark=dark)
        browser.open(page.as_uri())
        assert browser.complaints == []
        assert [url for url in browser.requests if not url.startswith(("file:", "about:"))] == []
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(18, 22, 27)" if dark else "rgb(255, 255, 255)")
        shown = browser.evaluate(
            "[...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width > 0).length"
        )
        assert shown == 4 + 1 + 2
