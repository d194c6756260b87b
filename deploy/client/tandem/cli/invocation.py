"""What every command shares: the connection it works on, its exit codes and its common options."""

import io
import os
import sys
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

if TYPE_CHECKING:
    import httpx

    from tandem.errors import TandemError
    from tandem.synchronous.client import Client


class ExitCode(IntEnum):
    """`deploy/docs/guides/automation.md` lists them for scripts. 2 is typer's, for a wrong command line."""

    DONE = 0
    REFUSED = 1
    NOT_ALLOWED = 3
    NOT_FOUND = 4
    CONFLICT = 5
    UNREACHABLE = 6
    WORK_FAILED = 10
    INTERRUPTED = 130
    PIPE_CLOSED = 141


def exit_code(error: "TandemError") -> ExitCode:
    from tandem import errors

    match error:
        case errors.NotSignedIn() | errors.Unauthorized() | errors.Forbidden():
            return ExitCode.NOT_ALLOWED
        case errors.NotFound():
            return ExitCode.NOT_FOUND
        case errors.Conflict() | errors.PreconditionFailed():
            return ExitCode.CONFLICT
        case errors.Unreachable() | errors.ServerError() | errors.RateLimited():
            return ExitCode.UNREACHABLE
        case errors.RunFailed() | errors.OperationFailed():
            return ExitCode.WORK_FAILED
        case _:
            return ExitCode.REFUSED


class Commands(typer.core.TyperGroup):
    """Turns errors into one message on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        from tandem.errors import TandemError

        _prepare_terminal(ctx)
        try:
            return super().invoke(ctx)
        except TandemError as error:
            _tell(str(error))
            raise typer.Exit(exit_code(error)) from error
        except BrokenPipeError as error:
            # `tandem runs list | head`. What is left to be written would fail again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.PIPE_CLOSED) from error
        except OSError as error:
            _tell(str(error))
            raise typer.Exit(ExitCode.REFUSED) from error
        except ValueError as error:
            if type(error).__name__ != "ValidationError":
                raise
            # pydantic's, which is not loaded just to be named here.
            _tell(f"the server's answer cannot be read, since it is of another release: update tandem-client ({error})")
            raise typer.Exit(ExitCode.UNREACHABLE) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(ExitCode.INTERRUPTED) from error


def _prepare_terminal(ctx: Any) -> None:
    """Colours only where they are wanted (https://no-color.org), and no answer that the terminal cannot spell."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _tell(problem: str) -> None:
    from tandem.text_files import printable

    typer.secho(f"tandem: {printable(problem)}", err=True, fg=typer.colors.RED)


@dataclass
class Invocation:
    """One call of the command line; `transport` leads elsewhere than over the network."""

    context: str = ""
    transport: "httpx.BaseTransport | None" = None
    _clients: "list[Client]" = field(default_factory=list)

    def client(self) -> "Client":
        """The client of the chosen context, made at the first call."""
        from tandem.synchronous.client import Client

        if not self._clients:
            self._clients.append(Client(context=self.context, transport=self.transport))
        return self._clients[0]

    def close(self) -> None:
        for client in self._clients:
            client.close()


def client_of(ctx: typer.Context) -> "Client":
    return ctx.ensure_object(Invocation).client()


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one document.")]
ProjectName = Annotated[str, typer.Option("--project", "-p", help="The project's name, slug or id.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or the name of the newest run so called.")]
