"""The Python side of the pairs of tests/torch/pairs: what PyTorch does on this machine's GPU.

Reads the pairs on stdin, each a line "=== NAME" and then its source. Prints a first line
"# PyTorch ..., CUDA ..., GPU", and for each pair "=== NAME" and what the source has shown, a line
each. Exits with 3 and a sentence on stderr where there is no PyTorch, or no GPU for it.

A source has the functions below, whose twins in Lua are in ours.lua. No observable is a time: a
spin of 0.2 s keeps a stream busy, and the question is whether it is over after a call.
"""
import gc
import math
import sys
import warnings

try:
    import torch
except Exception as reason:  # a broken installation raises more than ImportError
    print("PyTorch cannot be imported (%s)" % type(reason).__name__, file=sys.stderr)
    sys.exit(3)
if not torch.cuda.is_available():
    print("PyTorch sees no GPU", file=sys.stderr)
    sys.exit(3)

MiB = 1024 * 1024
SPIN_CYCLES = 400_000_000  # 0.2 s at 2 GHz
shown = []
before = {}


def text(value):
    """A value as both sides write it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        digits = "%.7g" % value
        return digits + ".0" if digits.lstrip("-").isdigit() else digits
    if isinstance(value, torch.dtype):
        return str(value).replace("torch.", "")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(item) for item in value) + "]"
    return str(value)


def show(what, value):
    shown.append("%s: %s" % (what, text(value)))


def note(words):
    """A line that is kept and not compared."""
    shown.append("# " + " ".join(str(words).split())[:160])


def outcome(function):
    """What the function gives, or "refused"; its message is a note."""
    try:
        return function()
    except Exception as error:
        note("%s: %s" % (type(error).__name__, error))
        return "refused"


def busy(stream=None, times=1):
    """Keeps the stream (default: the current one) busy for 0.2 s."""
    with torch.cuda.stream(stream):
        torch.cuda._sleep(SPIN_CYCLES * times)


def waits(function, stream=None):
    """Whether the call holds the host until the stream (default: the current one) is done with a spin."""
    stream = stream or torch.cuda.current_stream()
    function()  # the first use of anything may wait
    torch.cuda.synchronize()
    busy(stream)
    mark = stream.record_event()
    result = function()
    done = mark.query()
    torch.cuda.synchronize()
    del result
    return done


def beside(first, second):
    """Whether what the second stream is given now runs while the first one is busy."""
    busy(first)
    with torch.cuda.stream(second):
        torch.cuda._sleep(1000)
    second.synchronize()
    result = not first.query()
    torch.cuda.synchronize()
    return result


def reserved_mib():
    """The GPU memory that tensors of this pair have, or have had and still occupy."""
    return (torch.cuda.memory_reserved() - before["reserved"]) // MiB


def allocated():
    """The bytes of GPU memory that this pair holds."""
    return torch.cuda.memory_allocated() - before["allocated"]


def settle():
    torch.cuda.synchronize()
    torch.cuda.set_stream(torch.cuda.default_stream())
    gc.collect()
    torch.cuda.empty_cache()
    before["reserved"] = torch.cuda.memory_reserved()
    before["allocated"] = torch.cuda.memory_allocated()


def run(name, source):
    shown.clear()
    settle()
    space = {each.__name__: each for each in (
        show, note, outcome, busy, waits, beside, reserved_mib, allocated)}
    space.update(torch=torch, MiB=MiB)
    try:
        exec(compile(source, name, "exec"), space)
    except Exception as error:
        shown.append("ended by %s: %s" % (type(error).__name__, " ".join(str(error).split())))
    print("=== " + name)
    print("\n".join(shown), flush=True)


def pairs(lines):
    name, source = None, []
    for line in lines:
        if line.startswith("=== "):
            if name:
                yield name, "".join(source)
            name, source = line[4:].strip(), []
        else:
            source.append(line)
    if name:
        yield name, "".join(source)


warnings.simplefilter("ignore")
everything = list(pairs(sys.stdin))
print("# PyTorch %s, CUDA %s, %s" % (
    torch.__version__, torch.version.cuda, torch.cuda.get_device_name()))
busy()
torch.cuda.synchronize()
for each in everything:
    run(*each)
