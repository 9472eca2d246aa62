"""The exceptions of this package."""

from __future__ import annotations


class MemgaugeError(Exception):
    """The program failed, or could not be found or understood.

    `exit_code` is that of the program: 1 failed, 2 usage, 5 unsupported, negative for a signal.
    It is `None` if the program did not run. `message` is the program's message.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        self.message = message
        self.exit_code = exit_code
        super().__init__(message if exit_code is None else f"{message} (exit code {exit_code})")


class ReportError(MemgaugeError):
    """A file is no report that this version can read."""
