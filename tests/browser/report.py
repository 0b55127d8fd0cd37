# report.py - TAP of the tests in Python.
import sys

run = failed = 0


def ok(passed, name, *details):
    global run, failed
    run += 1
    failed += not passed
    print(f"{'' if passed else 'not '}ok {run} - {name}", flush=True)
    if not passed:
        for detail in details:
            print(f"#   {detail}", file=sys.stderr)


def equal(got, want, name):
    ok(got == want, name, f"got      {got!r}", f"expected {want!r}")


def diag(text):
    print(f"# {text}", file=sys.stderr, flush=True)


def done():
    print(f"1..{run}")
    sys.exit(failed > 0)
