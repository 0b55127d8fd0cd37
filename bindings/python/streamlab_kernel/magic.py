"""%%streamlab: a cell of Lua in a notebook of Python."""

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import publish_display_data

from . import server as servers
from .values import from_lua, to_lua


class LuaError(Exception):
    """An error in the cell; its text has the line and the hint."""


def names(text):
    return [name for name in (text or "").split(",") if name]


@magics_class
class StreamlabMagics(Magics):
    """All cells share one program."""

    server = None

    def ask(self, request, **fields):
        if self.server is None:
            self.server = servers.Server(servers.print_plainly)
        try:
            answer = self.server.ask(request, **fields)
        except servers.ServerEnded:
            self.reset()
            raise
        if not answer["ok"]:
            raise LuaError("\n".join(answer["error"]["traceback"]))
        if self.server.was_interrupted:
            raise KeyboardInterrupt
        return answer

    def reset(self):
        server, self.server = self.server, None
        if server is not None:
            server.close()

    @magic_arguments()
    @argument("-i", "--input", help="Python's variables that Lua gets: a,b")
    @argument("-o", "--output", help="Lua's global variables that Python gets: c,d")
    @argument("code", nargs="*", help="a line of Lua, or: reset")
    @line_cell_magic
    def streamlab(self, line, cell=None):
        """Runs Lua in streamlab."""
        arguments = parse_argstring(self.streamlab, line)
        code = " ".join(arguments.code) if cell is None else cell
        if cell is None and code == "reset":
            return self.reset()
        for name in names(arguments.input):
            if name not in self.shell.user_ns:
                raise UsageError(f"-i {name}: there is no variable {name}")
            fields, data = to_lua(self.shell.user_ns[name])
            self.ask("put", name=name, data=data, **fields)
        self.ask("run", code=code, number=max(self.shell.execution_count, 1), on_event=lambda _, data: publish_display_data(data))
        for name in names(arguments.output):
            self.shell.user_ns[name] = from_lua(self.ask("get", name=name))
        return None
