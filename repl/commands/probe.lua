-- probe.lua - streamlab probe: scripts/measure/probe.lua.

import("repl/run/instruments.lua").run("probe", ...)
