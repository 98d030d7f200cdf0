"""The one place where an error becomes a sentence on stderr and an exit code."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console

from wavetank.errors import ExitCode, WavetankError

P = ParamSpec("P")
R = TypeVar("R")


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """The command, with every error told as docs/reference/cli.md promises."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except WavetankError as error:
            tell(str(error))
            raise typer.Exit(int(error.exit_code)) from None
        except KeyboardInterrupt:
            tell("interrupted.")
            raise typer.Exit(int(ExitCode.INCONCLUSIVE)) from None
        except BrokenPipeError:
            # The reader (head, less) has had enough; keep the interpreter from flushing into it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(int(ExitCode.FINE)) from None
        except OSError as error:
            tell(f"{error.filename or 'the system'}: {error.strerror}.")
            raise typer.Exit(int(ExitCode.TESTBED_FAILED)) from None
        except typer.Exit:
            raise
        except Exception:
            traceback.print_exc()
            tell("this is a defect of wavetank; please report it with the lines above.")
            raise typer.Exit(int(ExitCode.TESTBED_FAILED)) from None

    return run


def tell(sentence: str) -> None:
    """One sentence to the user, on stderr, never wrapped or coloured."""
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(
        f"wavetank: {sentence}"
    )
