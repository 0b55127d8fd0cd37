"""client.py - the notebook's client of the program, without Jupyter: interrupts at every moment, a
client and a program that are killed, programs of other versions. Run by tests/repl/84-client.t.sh."""

import os
import select
import signal
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import tap  # noqa: E402

sys.path.insert(0, str(tap.PACKAGE))
os.environ["STREAMLAB"] = os.path.abspath(os.environ.get("STREAMLAB", "build/streamlab"))
os.environ["STREAMLAB_OPTIONS"] = "--backend sim"

from streamlab_kernel import server as servers  # noqa: E402

SECONDS = 20 * tap.slack()


def new_server():
    printed = []
    server = servers.Server(lambda name, text: printed.append(text))
    server.printed = printed
    return server


asked, place = None, "not interrupted"


def no_answer(*_):
    print(f"Bail out! no answer to {asked}", flush=True)
    os._exit(1)


signal.signal(signal.SIGALRM, no_answer)


def ask(server, request, **fields):
    """An answer, which must come."""
    global asked
    asked = f"{request} {str(fields)[:100]}, {place}"
    signal.alarm(SECONDS)
    try:
        return server.ask(request, **fields)
    finally:
        signal.alarm(0)


def value(server, code):
    """What an entry gives, as a text."""
    values = []
    ask(server, "run", code=code, on_event=lambda _, data: values.append(data["text/plain"]))
    return values


# ---- interrupts ------------------------------------------------------------------------------

N = 60000
ARRAY = struct.pack("=d", 1.5) * N
ARRAY_FIELDS = {"name": "a", "data": ARRAY, "dtype": "float64", "shape": [N], "bytes": len(ARRAY)}
REQUESTS = {
    "a run": ("run", {"code": "n = (n or 0) + 1; return n"}),
    "a run that prints": ("run", {"code": "for i = 1, 20000 do print(i) end"}),
    "a run that shows": ("run", {"code": "for i = 1, 5 do display(i) end"}),
    "a run that never ends": ("run", {"code": "while true do pcall(function() while true do end end) end"}),
    "a completion": ("complete", {"code": "lab.matm"}),
    "help": ("inspect", {"code": "lab.matmul("}),
    "a question": ("is_complete", {"code": "for i = 1, 2 do"}),
    "an array for Lua": ("put", ARRAY_FIELDS),
    "a value for Lua": ("put", {"name": "v", "value": [1] * 25000}),
    "an array of Lua": ("get", {"name": "sent"}),
    "a table of Lua": ("get", {"name": "list"}),
}
# What the client calls while it asks: SIGINT comes before or after one of them.
CALLS = ((servers.os, "write"), (servers.os, "read"), (servers.json, "loads"), (servers.json, "dumps"))


class Interrupter:
    """Counts the calls, and sends SIGINT to this process around the n-th, and perhaps all behind it."""

    def __init__(self, at, after, again):
        self.at, self.after, self.again, self.n = at, after, again, 0

    def interrupt(self, after):
        if after == self.after and (self.n == self.at or self.again and self.n > self.at):
            signal.raise_signal(signal.SIGINT)

    def __enter__(self):
        self.saved = [(module, name, getattr(module, name)) for module, name in CALLS]
        for module, name, call in self.saved:
            def counted(*arguments, call=call, **options):
                self.n += 1
                self.interrupt(False)
                result = call(*arguments, **options)
                self.interrupt(True)
                return result
            setattr(module, name, counted)
        return self

    def __exit__(self, *_):
        for module, name, call in self.saved:
            setattr(module, name, call)


server = new_server()
ask(server, "put", **{**ARRAY_FIELDS, "name": "sent"})
ask(server, "run", code="list = {} for i = 1, 8000 do list[i] = {i} end")


def survives(at, after, again, request, fields):
    """Whether the next request has its own answer; and how many calls there were."""
    global place
    place = f"interrupted at call {at}, after it: {after}, again: {again}"
    with Interrupter(at, after, again) as counted:
        answer = ask(server, request, **fields)
    mark = f"{request} {at} {after} {again}"
    next_value = value(server, f"'{mark}'")
    fine = next_value == [f'"{mark}"'] and (answer["ok"] or answer["error"]["name"] == "Interrupted")
    return fine, counted.n, answer


for name, (request, fields) in REQUESTS.items():
    if "never" in name:
        n = 2      # what it calls before the run has begun
    else:
        _, n, answer = survives(0, False, False, request, fields)
        tap.ok(answer["ok"], f"{name} is answered", answer)
    moments = [*range(1, min(n, 9)), n]
    print(f"# {n} moments")
    wrong = [(at, after, again) for at in moments for after in (False, True) for again in (False, True)
             if not survives(at, after, again, request, fields)[0]]
    tap.same(wrong, [], f"{name}: SIGINT at any moment, once or again and again, leaves the next its own answer")
got = ask(server, "get", name="sent")
tap.same(got["data"], ARRAY, "an array is what it was")

signal.setitimer(signal.ITIMER_REAL, SECONDS)
with Interrupter(1, True, False):
    answer = server.ask("run", code="while true do end")
signal.setitimer(signal.ITIMER_REAL, 0)
tap.same((answer["ok"], answer["error"]["name"]), (False, "Interrupted"),
         "SIGINT right behind the request ends its run, which had not begun")
try:
    signal.raise_signal(signal.SIGINT)
    tap.ok(False, "outside of requests SIGINT is Python's")
except KeyboardInterrupt:
    tap.ok(True, "outside of requests SIGINT is Python's")

server.printed.clear()
with Interrupter(3, True, False):       # when the command has printed
    ask(server, "run", code="!echo $$; exec sleep 1000")
try:
    os.kill(int(server.printed[0]), 0)
    tap.ok(False, "a command of the shell that a cell runs is ended by an interrupt", server.printed)
except ProcessLookupError:
    tap.ok(True, "a command of the shell that a cell runs is ended by an interrupt")


class Broken(Exception):
    """What a caller's function raises."""


def broken(*_):
    raise Broken


for moment in ("on_event", "on_print"):
    code = "display(1) display(2) print(3) return 4"
    try:
        if moment == "on_print":
            server.on_print = broken
        server.ask("run", code=code, on_event=broken if moment == "on_event" else None)
        raised = False
    except Broken:
        raised = True
    server.on_print = lambda name, text: None
    tap.same((raised, value(server, "'mine'")), (True, ['"mine"']),
             f"an error of {moment} passes, and what was not read is dropped before the next answer")

# ---- the program's side, without the client --------------------------------------------------------


class Raw:
    """The two pipes of a program."""

    def __init__(self):
        requests_out, self.requests = os.pipe()
        replies, replies_in = os.pipe()
        self.process = subprocess.Popen(
            [os.environ["STREAMLAB"], "--backend", "sim", f"--server={requests_out},{replies_in}"],
            pass_fds=(requests_out, replies_in), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(requests_out)
        os.close(replies_in)
        self.replies = os.fdopen(replies, "rb")
        self.reply()

    def send(self, data):
        while data:
            data = data[os.write(self.requests, data):]

    def interrupt(self):
        """And waits until the program, which waits for bytes, has obeyed."""
        self.process.send_signal(signal.SIGINT)
        while True:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
                if "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n" in status.read():
                    return

    def reply(self):
        signal.alarm(SECONDS)
        line = self.replies.readline()
        signal.alarm(0)
        return servers.json.loads(line)

    def ended(self):
        """Its status."""
        return self.process.wait(SECONDS)


raw = Raw()
head = b'{"request":"put","id":1,"name":"b","dtype":"float64","shape":[1000],"bytes":8000}\n'
body = struct.pack("=d", 2) * 1000
for cut in (10, len(head) - 1, len(head), len(head) + 1, len(head) + 7999):
    raw.send((head + body)[:cut])
    select.select([], [], [], 0.05)     # so that it has read that
    raw.interrupt()
    raw.send((head + body)[cut:])
    first = raw.reply()
    raw.send(b'{"request":"run","id":2,"code":"return b"}\n{"request":"is_complete","id":3,"code":"1"}\n')
    got = [raw.reply() for _ in range(3)]
    tap.same((first["id"], first["ok"], first["error"]["name"], [reply["id"] for reply in got]),
             (1, False, "Interrupted", [2, 2, 3]),
             f"a request of which {cut} bytes are there when SIGINT comes is read whole, and not done")
raw.interrupt()
raw.send(b'{"request":"run","id":4,"code":"5"}\n')
tap.same((raw.reply()["data"], raw.reply()["ok"]), ({"text/plain": "5"}, True),
         "SIGINT while there is no request is for none")
raw.send((head + body)[:500])
os.close(raw.requests)
tap.ok(raw.ended() is not None, "a program whose client ends within an array ends")

# ---- a client that is killed -------------------------------------------------------------------------

CLIENT = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from streamlab_kernel import server
s = server.Server(server.print_plainly)
s.ready()
print(s.process.pid, flush=True)
s.ask("run", code=sys.argv[2])
"""
for what, code in (("runs for ever", "print('go') while true do end"),
                   ("runs a command of the shell", "os.execute('echo go; exec sleep 1000')"),
                   ("catches all errors", "print('go') while true do pcall(function() while true do end end) end")):
    client = subprocess.Popen([sys.executable, "-c", CLIENT, str(tap.PACKAGE), code],
                              stdout=subprocess.PIPE, text=True)
    program = os.pidfd_open(int(client.stdout.readline()))
    client.stdout.readline()
    client.kill()
    client.wait()
    ready, _, _ = select.select([program], [], [], SECONDS)
    tap.ok(ready, f"a program that {what} ends when its client is killed")
    if not ready:
        signal.pidfd_send_signal(program, signal.SIGKILL)

# ---- a program that dies ----------------------------------------------------------------------------


def error_of(action):
    signal.alarm(SECONDS)
    try:
        return action()
    except servers.ServerEnded as ended:
        return f"{type(ended).__name__}: {ended}"
    finally:
        signal.alarm(0)


DEATHS = {
    "while nothing runs": ("is_complete", {"code": "1"}, True),
    "in a run": ("run", {"code": "os.execute('kill -9 $PPID')"}, False),
    "before an array comes": ("put", ARRAY_FIELDS, True),
    "by os.exit": ("run", {"code": "os.exit(3)"}, False),
}
for name, (request, fields, at_once) in DEATHS.items():
    server.close()
    server = new_server()
    server.ready()
    if at_once:
        server.process.kill()
        server.process.wait()
    status = "status 3" if "exit" in name else "signal 9"
    tap.same(error_of(lambda: server.ask(request, **fields)), f"ServerEnded: streamlab has ended ({status})",
             f"a program that dies {name} is reported")
    tap.same(error_of(lambda: server.ask("is_complete", code="1")),
             f"ServerEnded: streamlab has ended ({status})", "and again by the next request")
server.close()
server.close()
tap.ok(True, "closing it twice is harmless")

# ---- other versions ----------------------------------------------------------------------------------

folder = tempfile.mkdtemp()
fake = os.path.join(folder, "streamlab")
os.environ["STREAMLAB"] = fake
READY = '{"event":"ready","protocol":1,"version":"0"}'


def with_program(script):
    """What becomes of a request to a program that is this script; $1 are its descriptors."""
    with open(fake, "w", encoding="ascii") as file:
        file.write('#!/bin/bash\nfds=${!##--server=}; in=${fds%,*} out=${fds#*,}\n' + script)
    os.chmod(fake, 0o755)
    server = servers.Server(lambda *_: None)
    said = error_of(lambda: server.ask("is_complete", code="1"))
    server.close()
    return said


tap.same(with_program(f"echo '{READY.replace('1', '2', 1)}' >&$out; read -u $in"),
         f"NotStarted: {fake} is no server for this kernel: it speaks version 2 of the protocol, and the kernel"
         " version 1; install both of one release", "a program of another version is refused, not waited for")
tap.same(with_program("echo hello >&$out; read -u $in"),
         f"NotStarted: {fake} is no server for this kernel: what it has written is no reply: b'hello'",
         "so is one that is no server")
tap.same(with_program("echo unknown option >&2; exit 2"),
         "NotStarted: streamlab has not started (status 2): unknown option", "and one without that option")
for reply, why in (('{"ok":true,"id":7}', "streamlab has answered 7, which was not asked: 1 was"),
                   ("[1]", "what it has written is no reply: b'[1]'"), ('{"ok"', "what it has written is no reply: b'{\"ok\"'"),
                   ('{"ok":true,"kind":"array"}', "what it has written is no reply: b'{\"ok\":true,\"kind\":\"array\"}'")):
    tap.same(with_program(f"echo '{READY}' >&$out; read -u $in; echo '{reply}' >&$out; read -u $in"),
             f"OutOfStep: {why}", f"an answer that is none is refused: {reply}")
tap.same(with_program(f"echo '{READY}' >&$out; read -u $in; echo '{{\"ok\":true}}' >&$out; read -u $in"), {"ok": True},
         "one without an id is that of the request that was asked")
os.remove(fake)
os.rmdir(folder)
tap.done()
