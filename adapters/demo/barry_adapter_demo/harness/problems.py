"""Errors that a person reads: one sentence, and the exit status that goes with it."""


class Refused(Exception):
    """What was asked for is not done. ``status``: 2 for wrong usage, 1 for anything else."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def usage(message: str) -> Refused:
    """A refusal because the command line, or a file it names, is wrong."""
    return Refused(message, status=2)


def reason(error: OSError) -> str:
    """The system's own words for an error, without the file name it repeats."""
    return error.strerror or type(error).__name__
