"""The kernel: passes a notebook's requests on to the program, and its replies back."""

from ipykernel.kernelbase import Kernel

from . import server as servers


class StreamlabKernel(Kernel):
    """A notebook of Lua."""

    implementation = "streamlab"
    language = "lua"
    language_info = {
        "name": "lua", "version": "5.4", "mimetype": "text/x-lua", "file_extension": ".lua",
        "pygments_lexer": "lua", "codemirror_mode": "lua",
    }
    help_links = []
    server = None               # a program that has been started before the kernel was

    def __init__(self, **options):
        super().__init__(**options)
        self.server.on_print = self.on_print

    def about(self, field):
        """What the program says of itself. Where it does not start, each cell says why."""
        try:
            return self.server.ready()[field]
        except servers.NotStarted as failed:
            self.start_again()
            return str(failed)

    @property
    def implementation_version(self):
        return self.about("version")

    @property
    def language_version(self):
        return "5.4"

    @property
    def banner(self):
        return self.about("banner")

    # ---- messages to the notebook ---------------------------------------------------------------

    def on_print(self, name, text):
        self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    def show(self, event, data):
        content = {"data": data, "metadata": {}}
        if event == "result":
            content["execution_count"] = self.execution_count
            self.send_response(self.iopub_socket, "execute_result", content)
        elif event == "display":
            self.send_response(self.iopub_socket, "display_data", content)

    def failed(self, name, message, traceback):
        content = {"ename": name, "evalue": message, "traceback": traceback}
        self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    # ---- requests of the notebook ----------------------------------------------------------------

    def start_again(self):
        self.server.close()
        self.server = servers.Server(self.on_print)

    def ask(self, request, **fields):
        """An answer; a program that has ended is started again, and the error raised."""
        try:
            return self.server.ask(request, **fields)
        except servers.ServerEnded:
            self.start_again()
            raise

    def do_execute(self, code, silent, store_history=True, user_expressions=None,
                   allow_stdin=False, **_):
        try:
            answer = self.ask("run", code=code, number=max(self.execution_count, 1),
                              on_event=None if silent else self.show)
        except servers.NotStarted as failed:
            return self.failed("NotStarted", str(failed), [str(failed)])
        except servers.ServerEnded as ended:
            message = f"{ended}; a new one has begun, without its variables"
            return self.failed("ServerEnded", message, [message])
        if not answer["ok"]:
            error = answer["error"]
            return self.failed(error["name"], error["message"], error["traceback"])
        return {"status": "ok", "execution_count": self.execution_count, "payload": [],
                "user_expressions": {}}

    def do_complete(self, code, cursor_pos):
        answer = self.ask("complete", code=code, cursor=cursor_pos)
        return {"status": "ok", "matches": answer.get("words", []), "metadata": {},
                "cursor_start": answer.get("from", cursor_pos),
                "cursor_end": answer.get("to", cursor_pos)}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        answer = self.ask("inspect", code=code, cursor=cursor_pos)
        return {"status": "ok", "found": answer.get("found", False),
                "data": answer.get("data", {}), "metadata": {}}

    def do_is_complete(self, code):
        state = self.ask("is_complete", code=code).get("state", "unknown")
        return {"status": state, "indent": "  "} if state == "incomplete" else {"status": state}

    def do_shutdown(self, restart):
        self.server.close()
        return {"status": "ok", "restart": restart}
