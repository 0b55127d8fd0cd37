-- 53-values-gpu.t.lua - what the REPL shows on a real GPU, where values are copied.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

tap.open_real()
shell.environment = "export STREAMLAB_BACKEND=cuda LC_ALL=C.UTF-8 COLUMNS=80"

local function shown(text)
    return (shell.run({ "-i" }, text))
end

tap.is(shown "a = lab.full(2, 2, 3)\nlab.synchronize()\na\n",
    "tensor 2x3 float32 on cuda, 24 bytes\n  2.  2.  2.\n  2.  2.  2.\n",
    "a tensor has its values")
tap.is(shown "a = lab.full(3, 1000, 1000)\nb = lab.add(a, 1)\nlab.synchronize()\nb\n",
       [[tensor 1000x1000 float32 on cuda, 3.81 MiB
   4.   4.   4.  ...   4.   4.   4.
   4.   4.   4.  ...   4.   4.   4.
   4.   4.   4.  ...   4.   4.   4.
  ...  ...  ...  ...  ...  ...  ...
   4.   4.   4.  ...   4.   4.   4.
   4.   4.   4.  ...   4.   4.   4.
   4.   4.   4.  ...   4.   4.   4.
]], "of a large one a corner, once its work is done")
tap.like(shown "s = lab.stream()\nlab.spin(300, {stream = s})\ns\nlab.host_work(600)\ns\n",
    "working, 1 operation in flight\n.*: idle\n", "a stream says how it stands")
tap.like(shown "lab.spin(0)\ne = lab.event()\nlab.spin(300); e:record();\ne\ne:synchronize()\ne\n",
    "recorded, pending\n.*recorded, has happened\n", "an event, too")
tap.like(shown "a = lab.ones(2)\nlab.synchronize()\nlab.spin(0)\nlab.spin(300)\na:fill_(2)\na\n",
    "8 bytes %(1 operation in flight%)\n  lab.synchronize%(%) waits for its values\n",
    "while work on it is in flight, how much")
tap.like(shown "tl = lab.record()\na = lab.ones(2)\nlab.synchronize()\na\n",
    "values are not read while a recording runs", "nothing is read in a recording")
tap.like(shown "lab.spin(0)\ntime(function() lab.spin(20) end)\n",
    "until f returned\n *2%d%.%d+ ms  until all work was done\n", "time(f) waits for the GPU")
local out = shown "a = lab.ones(4)\nlab.cuda.trap()\npcall(lab.synchronize)\na\n"
tap.like(out, "tensor 4 float32 on cuda, 16 bytes\n  no values: ", "a lost device has no values")

tap.done()
