"""The program `streamlab --server`: starts it, sends requests and reads the replies.

docs/notebook.md has the protocol. What scripts print comes through two more pipes. All four are
read by one thread, so that what was printed before a reply is delivered before it.
"""

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time

# A second SIGINT within two seconds ends the program.
AT_ONCE_SECONDS = 2.1


class ServerEnded(Exception):
    """The program has ended; its state is lost."""


class NotStarted(ServerEnded):
    """It has ended before it read a request; the text has what it said."""


def program():
    """The path of the program: $STREAMLAB, the wheel's, or the one on the path."""
    named = os.environ.get("STREAMLAB")
    if named:
        return named
    try:
        from streamlab import program as of_the_wheel

        return of_the_wheel()
    except ImportError:
        found = shutil.which("streamlab")
    if not found:
        raise FileNotFoundError("the program streamlab is neither in $STREAMLAB nor on the path")
    return found


def environment():
    """Charts are in UTF-8 and 100 columns wide, whatever terminal Jupyter was started in."""
    return {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100", "NO_COLOR": "1"}


class Server:
    """One running program. `on_print(name, text)` gets what is written to "stdout" and "stderr"."""

    def __init__(self, on_print=None, options=None):
        self.on_print = on_print
        self.first_reply = None
        self.interrupted_at = -AT_ONCE_SECONDS
        if options is None:
            options = shlex.split(os.environ.get("STREAMLAB_OPTIONS", ""))
        self._start(options)

    def _start(self, options):
        requests_out, requests_in = os.pipe()
        replies_out, replies_in = os.pipe()
        command = [program(), *options, f"--server={requests_out},{replies_in}"]
        self.process = subprocess.Popen(
            command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, pass_fds=(requests_out, replies_in),
            start_new_session=True,     # the signals of Jupyter's process group go to us alone
        )
        os.close(requests_out)
        os.close(replies_in)
        self.requests, self.replies, self.unread = requests_in, replies_out, b""
        self.selector = selectors.DefaultSelector()
        for stream, name in ((self.process.stdout, "stdout"), (self.process.stderr, "stderr")):
            os.set_blocking(stream.fileno(), False)
            self.selector.register(stream.fileno(), selectors.EVENT_READ, name)
        os.set_blocking(self.replies, False)
        self.selector.register(self.replies, selectors.EVENT_READ, None)
        self.partial = {"stdout": b"", "stderr": b""}

    def ready(self):
        """The program's first reply. Starting does not wait for it, the first request does."""
        if self.first_reply is None:
            self.first_reply = self._read_first_reply()
        return self.first_reply

    def _read_first_reply(self):
        said, deliver = [], self.on_print
        self.on_print = lambda *printed: said.append(printed)
        try:
            reply = self._next_reply()
        except ServerEnded:
            text = "".join(text for _, text in said).strip()
            raise NotStarted(f"streamlab has not started ({self._status()}): {text}") from None
        finally:
            self.on_print = deliver
        for printed in said:
            deliver(*printed)
        return reply

    # ---- what is printed -------------------------------------------------------------------

    def _deliver(self, name, data, last=False):
        """A character that the pipe has cut waits for its other bytes."""
        data = self.partial[name] + data
        whole = len(data)
        if not last:
            for back in range(1, min(4, len(data)) + 1):
                byte = data[-back]
                if byte >= 0xC0:
                    needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
                    whole = len(data) - back if needed > back else whole
                if byte & 0xC0 != 0x80:
                    break
        self.partial[name] = data[whole:]
        if whole:
            self.on_print(name, data[:whole].decode("utf-8", "replace"))

    def _read_printed(self, descriptor, name):
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return False
        if not data and descriptor in self.selector.get_map():
            self.selector.unregister(descriptor)
        if data:
            self._deliver(name, data)
        return bool(data)

    def _drain(self):
        """What was printed before a reply is in the pipes when the reply is."""
        for stream, name in ((self.process.stdout, "stdout"), (self.process.stderr, "stderr")):
            while self._read_printed(stream.fileno(), name):
                pass
            self._deliver(name, b"", last=True)

    # ---- replies ----------------------------------------------------------------------------

    def interrupt(self):
        """Stops what runs. One that comes too early after another would end the program."""
        now = time.monotonic()
        if now - self.interrupted_at >= AT_ONCE_SECONDS:
            self.interrupted_at = now
            self.process.send_signal(signal.SIGINT)

    def _wait(self):
        """Reads what there is; a KeyboardInterrupt is passed on to the program."""
        try:
            for key, _ in self.selector.select():
                if key.data:
                    self._read_printed(key.fd, key.data)
                else:
                    data = os.read(self.replies, 1 << 20)
                    if not data:
                        self._drain()
                        raise ServerEnded(f"streamlab has ended ({self._status()})")
                    self.unread += data
        except KeyboardInterrupt:
            self.interrupt()

    def _status(self):
        status = self.process.wait()
        return f"signal {-status}" if status < 0 else f"status {status}"

    def _next_reply(self):
        searched = 0
        while True:
            end = self.unread.find(b"\n", searched)
            if end >= 0:
                line, self.unread = self.unread[:end], self.unread[end + 1:]
                self._drain()
                return json.loads(line)
            searched = len(self.unread)
            self._wait()

    def _bytes(self, n):
        while len(self.unread) < n:
            self._wait()
        data, self.unread = self.unread[:n], self.unread[n:]
        return data

    def ask(self, request, data=b"", on_event=None, **fields):
        """Sends a request and returns its answer; its events go to on_event(name, data)."""
        self.ready()
        line = json.dumps({"request": request, **fields}).encode() + b"\n" + bytes(data)
        try:
            while line:
                line = line[os.write(self.requests, line):]
        except BrokenPipeError:
            self._drain()
            raise ServerEnded(f"streamlab has ended ({self._status()})") from None
        while True:
            reply = self._next_reply()
            if "ok" in reply:
                if reply.get("kind") == "array":
                    reply["data"] = self._bytes(reply["bytes"])
                return reply
            if on_event:
                on_event(reply["event"], reply.get("data"))

    def close(self):
        """Ends the program, by force if it does not end within a second."""
        os.close(self.requests)
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.selector.close()
        os.close(self.replies)
        self.process.stdout.close()
        self.process.stderr.close()


def print_plainly(name, text):
    """What a script prints goes where Python's prints go."""
    stream = sys.stderr if name == "stderr" else sys.stdout
    stream.write(text)
    stream.flush()
