"""`evalctl app`: the dashboard in a browser, on this machine only."""

import importlib.util
import socket
from pathlib import Path

import click

ADDRESS = "127.0.0.1"
"""Never another: the page shows private results and asks nobody who they are."""


@click.command(name="app")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8501, show_default=True, metavar="N", help="Port on loopback."
)
def command(port: int) -> None:
    """Open the dashboard: matrix, time line, latest verdict, any two checkpoints compared, and campaigns as they go.

    It listens on 127.0.0.1 only, sends nothing anywhere, and reads the store at EVALCTL_HOME. Ctrl-C ends it.
    """
    from evalctl.errors import ResourceError, UsageError

    if importlib.util.find_spec("streamlit") is None:
        raise UsageError("the dashboard needs Streamlit, which is not installed here: pip install 'streamlit>=1.50'")
    if taken(port):
        raise UsageError(f"port {port} is in use on {ADDRESS}; choose another with --port")
    from streamlit.web.cli import main as streamlit

    click.echo("starting the dashboard, on this machine only (Ctrl-C ends it)")
    try:
        streamlit(arguments(port), standalone_mode=False)
    except SystemExit as error:
        # Its own exit 1 would read as "regressed" to whoever started this.
        if error.code:
            raise ResourceError(f"the dashboard ended with status {error.code}; its own lines above say why") from error


def arguments(port: int) -> list[str]:
    """What Streamlit is started with: loopback, no browser opened, nothing reported, no file watched."""
    from reports import style

    script = Path(__file__).parent.parent / "dashboard.py"
    options = {
        "server.address": ADDRESS,
        "server.port": str(port),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "browser.serverAddress": ADDRESS,
        "client.toolbarMode": "minimal",
        "client.showSidebarNavigation": "false",
        "client.showErrorDetails": "none",
        "global.developmentMode": "false",
        "logger.level": "warning",
        "theme.light.backgroundColor": style.PAPER_LIGHT,
        "theme.dark.backgroundColor": style.PAPER_DARK,
    }
    return ["run", str(script), *(f"--{name}={value}" for name, value in options.items())]


def taken(port: int) -> bool:
    """Whether something listens on the port already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((ADDRESS, port))
        except OSError:
            return True
    return False
