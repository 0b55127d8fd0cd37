"""Times the puzzler's two functions, for torch_puzzler.py and cupy_puzzler.py."""
import json
import sys
import time


def missing(why):
    """Says that there is nothing to time, and ends the program."""
    print(json.dumps({"missing": why}))
    sys.exit(0)


def report(version, synchronize, non_blocking_streams, blocking_streams):
    """Prints one line of JSON, which bench.lua reads: the version and the wall times in ms of 11 runs
    of each function after 2 warm-ups, from before the first call to the end of synchronize()."""
    def wall_ms(function):
        synchronize()
        began = time.perf_counter()
        function()
        synchronize()
        return (time.perf_counter() - began) * 1000

    result = {"version": version}
    for name, function in (("non_blocking_ms", non_blocking_streams),
                           ("blocking_ms", blocking_streams)):
        runs = [wall_ms(function) for _ in range(2 + 11)]
        result[name] = [round(run, 4) for run in runs[2:]]
    print(json.dumps(result))
