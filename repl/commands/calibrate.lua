-- calibrate.lua - streamlab calibrate: scripts/measure/calibrate.lua.

import("repl/run/instruments.lua").run("calibrate", ...)
