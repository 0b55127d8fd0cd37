"""The program `streamlab --server`: starts it, sends requests and reads the replies.

docs/notebook.md has the protocol. What scripts print comes through two more pipes. All four are
served by one thread, so that what was printed before a reply is delivered before it.

While a request is asked, SIGINT raises no KeyboardInterrupt: it goes to the program, and its answer is
awaited. So the requests and replies stay in step, whenever it comes.
"""

import collections
import contextlib
import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

PROTOCOL = 1

# A second SIGINT within two seconds, while the first is obeyed, ends the program.
AT_ONCE_SECONDS = 2.1


class ServerEnded(Exception):
    """The program has ended; its state is lost."""


class NotStarted(ServerEnded):
    """It has ended before it read a request, or is no server that is understood here."""


class OutOfStep(ServerEnded):
    """What it has replied answers no request, and is of no more use."""


INTERRUPTED = {"ok": False, "error": {"name": "Interrupted", "message": "interrupted!",
                                      "traceback": ["interrupted!"]}}


@contextlib.contextmanager
def interrupts(take):
    """SIGINT calls take(), unless it is ignored. Python handles signals in the main thread alone."""
    if (threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) == signal.SIG_IGN):
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: take())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


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
        self.was_interrupted = False    # during the request that is asked
        self.interrupted_at = None      # the program was, then
        self.has_begun = True           # it has got the request's first bytes, or starts
        self.is_asking = threading.Lock()
        self.last_id = 0
        self.unanswered = collections.deque()   # ids; before the last those that were given up
        self.unsent = collections.deque()       # parts of requests
        self.unread = bytearray()
        self.partial = {"stdout": b"", "stderr": b""}
        self.selector = selectors.DefaultSelector()
        if options is None:
            options = shlex.split(os.environ.get("STREAMLAB_OPTIONS", ""))
        self.process = None
        with interrupts(self.interrupt):
            self._start(options)

    def _start(self, options):
        requests_out, self.requests = os.pipe()
        self.replies, replies_in = os.pipe()
        command = [program(), *options, f"--server={requests_out},{replies_in}"]
        self.process = subprocess.Popen(
            command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, pass_fds=(requests_out, replies_in),
            start_new_session=True,     # the signals of Jupyter's process group go to us alone
        )
        os.close(requests_out)
        os.close(replies_in)
        for stream, name in ((self.process.stdout, "stdout"), (self.process.stderr, "stderr")):
            os.set_blocking(stream.fileno(), False)
            self.selector.register(stream.fileno(), selectors.EVENT_READ, name)
        os.set_blocking(self.requests, False)
        os.set_blocking(self.replies, False)
        self.selector.register(self.replies, selectors.EVENT_READ, "replies")

    def ready(self):
        """The program's first reply. Starting does not wait for it, the first request does."""
        if self.first_reply is None:
            with interrupts(self.interrupt):
                self.first_reply = self._read_first_reply()
        return self.first_reply

    def _read_first_reply(self):
        said, deliver = [], self.on_print
        self.on_print = lambda *printed: said.append(printed)
        try:
            reply = self._next_reply()
            spoken = reply.get("protocol") if reply.get("event") == "ready" else None
            if spoken != PROTOCOL:
                raise OutOfStep(f"it speaks version {spoken} of the protocol, and the kernel version"
                                f" {PROTOCOL}; install both of one release")
        except ServerEnded as ended:
            text = "".join(text for _, text in said).strip()
            if isinstance(ended, OutOfStep):
                raise NotStarted(f"{program()} is no server for this kernel: {ended}") from None
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

    # ---- requests and replies ----------------------------------------------------------------

    def interrupt(self):
        """Stops what the request that is asked runs, with the programs that it has started. One that
        comes too early after another would end the program."""
        self.was_interrupted = True
        now = time.monotonic()
        too_early = self.interrupted_at is not None and now - self.interrupted_at < AT_ONCE_SECONDS
        if self.has_begun and not too_early and self.process is not None:
            self.interrupted_at = now
            self._signal(signal.SIGINT)

    def _signal(self, number):
        """To the program and to what it has started, as a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            if self.process.poll() is None:
                os.killpg(self.process.pid, number)

    def _serve(self):
        """Waits until something can be read or written, and does that."""
        for key, _ in self.selector.select():
            if key.data == "requests":
                self._write()
            elif key.data == "replies":
                self._read()
            else:
                self._read_printed(key.fd, key.data)

    def _write(self):
        try:
            n = os.write(self.requests, self.unsent[0])
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise self._ended() from None
        self.has_begun = True
        if self.was_interrupted and self.interrupted_at is None:
            self.interrupt()
        rest = self.unsent.popleft()[n:]
        if rest:
            self.unsent.appendleft(rest)
        if not self.unsent:
            self.selector.unregister(self.requests)

    def _read(self):
        data = os.read(self.replies, 1 << 20)
        if not data:
            raise self._ended()
        self.unread += data

    def _ended(self):
        self._drain()
        return ServerEnded(f"streamlab has ended ({self._status()})")

    def _status(self):
        """Of a program that has closed its replies: it is ending."""
        try:
            status = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            status = self.process.wait()
        return f"signal {-status}" if status < 0 else f"status {status}"

    def _next_reply(self):
        """With the bytes behind its line. Until all of it is there, nothing of it is taken."""
        searched = 0
        while (end := self.unread.find(b"\n", searched)) < 0:
            searched = len(self.unread)
            self._serve()
        try:
            reply = json.loads(self.unread[:end])
            n = reply["bytes"] if reply.get("kind") == "array" else 0
        except (ValueError, AttributeError, LookupError):
            raise OutOfStep(f"what it has written is no reply: {bytes(self.unread[:min(end, 100)])!r}") from None
        while len(self.unread) < end + 1 + n:
            self._serve()
        if n:
            reply["data"] = bytes(memoryview(self.unread)[end + 1:end + 1 + n])
        elif reply.get("kind") == "array":
            reply["data"] = b""
        del self.unread[:end + 1 + n]
        self._drain()
        return reply

    def _send(self, request, data=b"", **fields):
        """Its id. What is left of earlier requests goes before it."""
        self.last_id += 1
        line = json.dumps({"request": request, "id": self.last_id, **fields}).encode() + b"\n"
        if not self.unsent:
            self.selector.register(self.requests, selectors.EVENT_WRITE, "requests")
        self.unsent.extend(part for part in (memoryview(line), memoryview(data).cast("B")) if part)
        self.unanswered.append(self.last_id)
        return self.last_id

    def _answer(self, number, on_event=None):
        """The answer to that request. Those to earlier ones, which were given up, are dropped. A request
        that was not understood is answered without an id."""
        while True:
            reply = self._next_reply()
            oldest = self.unanswered[0]
            if reply.get("id", oldest) != oldest:
                raise OutOfStep(f"streamlab has answered {reply['id']!r}, which was not asked: {oldest} was")
            if "ok" in reply:
                self.unanswered.popleft()
            if oldest != number:
                continue
            if "ok" in reply:
                return reply
            if on_event:
                on_event(reply["event"], reply.get("data"))

    def ask(self, request, data=b"", on_event=None, **fields):
        """Sends a request and returns its answer; its events go to on_event(name, data). After SIGINT
        the answer may be one of success, if the request was done by then: was_interrupted tells."""
        with self.is_asking, interrupts(self.interrupt):
            self.was_interrupted, self.interrupted_at = False, None
            self.ready()
            if self.was_interrupted:
                return INTERRUPTED
            self.has_begun = False
            answer = self._answer(self._send(request, data, **fields), on_event)
            if self.interrupted_at is not None:
                self._settle()
            return answer

    def _settle(self):
        """One that has come after the answer must not be for the next request."""
        self._answer(self._send("is_complete", code=""))

    def close(self):
        """Ends the program, and what it runs, by force if it does not end within a second."""
        with interrupts(lambda: None):
            if self.requests is None:
                return
            os.close(self.requests)
            self.requests = None
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
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
