#!/bin/sh
# 84-client.t.sh - the notebook's client of the server: tests/notebook/client.py, where there is Python.
if ! python3 -c 'import os; os.pidfd_open' 2>/dev/null; then
    echo "1..0 # SKIP no Python 3.9"
    exit 0
fi
exec python3 "$(dirname "$0")/../notebook/client.py" 2>/dev/null
