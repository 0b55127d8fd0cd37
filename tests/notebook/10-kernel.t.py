"""10-kernel.t.py - the kernel, as a client of Jupyter sees it."""

import os
import shutil
import time

import tap

folder = tap.prepare()

import psutil  # noqa: E402
from jupyter_client.manager import KernelManager  # noqa: E402


def started():
    """A kernel that is ready, and its client."""
    manager = KernelManager(kernel_name="streamlab")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client


begun = time.monotonic()
manager, client = started()
start_s = time.monotonic() - begun
spent = psutil.Process(manager.provisioner.pid).cpu_times()
start_cpu_s = spent.user + spent.system
print(f"# ready after {start_s:.2f} s, {start_cpu_s:.2f} s of them on a processor")


def messages_of(request, until=30):
    """The messages about a request, up to when the kernel is idle again."""
    found, end = [], time.monotonic() + until * tap.slack()
    while time.monotonic() < end:
        message = client.get_iopub_msg(timeout=end - time.monotonic())
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return found
        found.append((message["msg_type"], message["content"]))
    raise TimeoutError


def reply_to(request):
    while True:
        reply = client.get_shell_msg(timeout=30 * tap.slack())
        if reply["parent_header"]["msg_id"] == request:
            return reply["content"]


def run(code):
    """What a cell shows, by kind, without what goes with every cell; and the reply."""
    request = client.execute(code)
    reply = reply_to(request)
    shown = [m for m in messages_of(request) if m[0] not in ("status", "execute_input")]
    return shown, reply


def printed(shown, name):
    return "".join(c["text"] for kind, c in shown if kind == "stream" and c["name"] == name)


def value(code):
    """The text of a cell's value."""
    return [c for kind, c in run(code)[0] if kind == "execute_result"][0]["data"]["text/plain"]


# ---- cells -----------------------------------------------------------------------------------

shown, reply = run("print('out'); io.stderr:write('err\\n'); n = 41; n + 1")
tap.same(printed(shown, "stdout"), "out\n", "what a cell prints is on its stdout")
tap.same(printed(shown, "stderr"), "err\n", "and on its stderr")
tap.same(shown[-1][0], "execute_result", "its value is the result, and comes last")
tap.same(shown[-1][1]["data"], {"text/plain": "42"}, "as a text")
tap.same((reply["status"], reply["execution_count"]), ("ok", 1), "and the reply says that it ended well")
shown, _ = run("lab.profile(lab.spin, 1)")
tap.same(sorted(shown[-1][1]["data"]), ["image/svg+xml", "text/plain"], "a timeline is a picture")
shown, _ = run("display(lab.tensor{1, 2}:cpu())")
tap.same(shown[0][0], "display_data", "display() shows while the cell runs")
tap.ok(shown[0][1]["data"]["text/html"].startswith("<p>tensor 2 float32"), "a tensor as HTML", shown)
shown, _ = run("for i = 1, 20000 do print(i, 'ä€𝄞') end")
tap.same(printed(shown, "stdout"), "".join(f"{i}\tä€𝄞\n" for i in range(1, 20001)),
         "long output is whole, and no character is cut")

shown, _ = run("lab.stream{priority = -1000}")
tap.same((printed(shown, "stderr"), printed(shown, "stdout")[:28]), ("", "streamlab: priority -1000 is"),
         "a notice is no error: it is on stdout")
for line in ("?lab.spin", ".timer off", "!true"):
    run(line)
shown, reply = run("n = 5\nlab.strem()")
number = reply["execution_count"]
kind, error = shown[-1]
tap.same(kind, "error", "an error is one of Jupyter's")
tap.same((error["ename"], error["evalue"]),
         ("Error", f"lab[{number}]:2: attempt to call a nil value (field 'strem')"), "with its name and message, and the cell's number")
tap.same(error["traceback"][1:], [" 2 | lab.strem()", "   |     ^~~~~", "hint: did you mean lab.stream?"],
         "and the line with a mark, and the hint")
tap.same(reply["status"], "error", "the reply says so")
tap.same(value("n"), "5", "and the state is kept")

# ---- questions ---------------------------------------------------------------------------------

content = reply_to(client.complete("lab.matm", 8))
tap.same((content["matches"], content["cursor_start"], content["cursor_end"]), (["matmul"], 4, 8), "it completes")
content = reply_to(client.inspect("lab.matmul(", 11))
tap.ok(content["found"] and content["data"]["text/plain"].startswith("lab.matmul(a, b"), "it explains", content)
tap.same(reply_to(client.inspect("no_such_name", 3))["found"], False, "or says that there is nothing")
tap.same([reply_to(client.is_complete(code))["status"] for code in ("for i = 1, 2 do", "1", "a b")],
         ["incomplete", "complete", "invalid"], "it says whether a cell is whole")

# ---- interrupt, restart ---------------------------------------------------------------------------


def interrupted(code):
    """The error of a cell that was interrupted, and how long that took."""
    request = client.execute("print('go'); " + code)
    while True:
        message = client.get_iopub_msg(timeout=30 * tap.slack())
        if message["msg_type"] == "stream":
            break
    time.sleep(0.1)
    at = time.monotonic()
    manager.interrupt_kernel()
    reply = reply_to(request)
    took = time.monotonic() - at
    messages_of(request)
    return reply, took


for code in ("while true do end", "while true do pcall(function() while true do end end) end"):
    reply, took = interrupted(code)
    print(f"# interrupted after {took * 1000:.0f} ms")
    tap.same(reply.get("ename"), "Interrupted", "an interrupt is an error of the cell")
    tap.ok(took <= 0.5 * tap.slack(), "within half a second", f"{took:.2f} s")
    tap.same(value("n"), "5", "and the state is kept")
    time.sleep(2.1)

request = client.execute("!echo $$; exec sleep 1000")
while (message := client.get_iopub_msg(timeout=30 * tap.slack()))["msg_type"] != "stream":
    pass
manager.interrupt_kernel()
reply_to(request)
messages_of(request)
tap.ok(not psutil.pid_exists(int(message["content"]["text"])), "an interrupt ends a command of the shell")
tap.same(value("n"), "5", "and keeps the state")

shown, reply = run("os.exit(3)")
tap.same((reply["ename"], reply["evalue"]),
         ("ServerEnded", "streamlab has ended (status 3); a new one has begun, without its variables"),
         "a program that ends is reported")
tap.same(value("n"), "nil", "and the next cell has a new one")
_, reply = run("error('x')")
tap.same(reply["evalue"], f"lab[{reply['execution_count']}]:1: x", "whose entries have the cells' numbers as well")

run("n = 6")
manager.restart_kernel()
client.wait_for_ready(timeout=60)
tap.same(value("n"), "nil", "after a restart nothing is left")

program = psutil.Process(manager.provisioner.pid).children()[0]
client.stop_channels()
manager.shutdown_kernel()
_, alive = psutil.wait_procs([program], timeout=5)
tap.same(alive, [], "when the kernel ends the program ends")
tap.ok(start_cpu_s <= 1.5, "its start takes little time on a processor", start_cpu_s)

# ---- a program that does not start -----------------------------------------------------------------

os.environ["STREAMLAB_OPTIONS"] = "--profile nowhere"
manager, client = started()
for cell in ("the first cell", "and each other one"):
    _, reply = run("1")
    tap.ok(reply["ename"] == "NotStarted" and 'there is no profile "nowhere"' in reply["evalue"],
           f"with options that are wrong, {cell} says why the program has not started", reply)
client.stop_channels()
manager.shutdown_kernel()
shutil.rmtree(folder, ignore_errors=True)
tap.done()
