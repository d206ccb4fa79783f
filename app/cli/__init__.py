"""The command line. `main` maps how a command ended to the exit status the shell sees.

0 done or pass · 1 regressed or refused · 2 usage · 3 inconclusive · 4 invalid or missing evidence ·
5 any uncaught exception, import errors included · 130 interrupted. Nothing heavy is imported here.
"""

import os
import sys
import traceback


def main() -> int:
    """Run the command line on `sys.argv` and return the exit status; never raises."""
    try:
        from .root import dispatch

        return dispatch(sys.argv[1:])
    except KeyboardInterrupt as error:
        how = "; ".join(getattr(error, "__notes__", []))
        sys.stderr.write(f"\nevalctl: interrupted; nothing is lost{f'; {how}' if how else ''}\n")
        return 130
    except BrokenPipeError:
        # The reader went away: no error of ours, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            return error.code
        _tell(error)
        return 5


def _tell(error: BaseException) -> None:
    line = f"evalctl: internal error: {type(error).__name__}: {error} (exit 5; please report it)"
    try:
        from .said import say, say_each

        say_each("".join(traceback.format_exception(error)).rstrip())
        say(line)
    except Exception:
        # An installation that lacks even this: the message all the same, in ASCII.
        sys.stderr.write(f"{line!a}\n")
