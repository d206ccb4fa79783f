"""`evalctl report`: one HTML or Markdown file of what the store holds."""

from pathlib import Path

import click


@click.command(name="report")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write: .html or .md (default: a new .html under the store's reports folder).",
)
@click.option("--baseline", metavar="REF", help="Compare against this run, checkpoint, path or baseline:NAME.")
@click.option("--candidate", metavar="REF", help="Compare this one; both or neither.")
def command(out: Path | None, baseline: str | None, candidate: str | None) -> None:
    """Write one file: every checkpoint on every suite, with intervals, the newest verdict, and the newest campaign.

    Without --baseline and --candidate the pair is that of the newest verdict, else the two newest checkpoints
    that share a suite. The HTML file is whole in itself: no script, nothing loaded. Trials of the roles sealed
    and dev are left out, so a report is no look at sealed data. Without any run the exit status is 4.
    """
    from datetime import UTC, datetime

    from app.files import ready, write
    from app.gather import gather
    from app.present import console, safe
    from app.tables import show
    from evalctl.errors import UsageError
    from evalctl.store import Store
    from reports import html, markdown

    if out is not None and out.suffix not in (".html", ".md"):
        raise UsageError(f"--out {out}: the name must end in .html or .md, which says what to write")
    if out is not None:
        ready(out)
    store = Store.open()
    overview = gather(store, baseline, candidate)
    now = datetime.now(UTC)
    path = out or store.home / "reports" / f"{now:%Y%m%dT%H%M%SZ}.html"
    form = markdown if path.suffix == ".md" else html
    write(path, form.page(overview, now.isoformat(timespec="seconds")))
    to = console()
    show(overview, to)
    to.print()
    to.print(safe(f"wrote {path}"), soft_wrap=True)
