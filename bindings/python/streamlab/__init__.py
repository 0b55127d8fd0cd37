"""Where a wheel has put the program."""

from importlib.metadata import distribution


def program():
    """The path of the program. Raises ImportError where no wheel is installed."""
    for file in distribution("streamlab").files or ():
        if file.name == "streamlab" and file.parent.name == "bin":
            return str(file.locate().resolve())
    raise ImportError("this installation of streamlab has no program")
