-- assertions.lua - what the failing allocator is tried on besides script.lua, which would take
-- much longer with it: reading the files of lab.tap, and assertions that fail.
local t = lab.tap()
lab.open { backend = "sim", profile = "textbook" }
local tl, a = lab.profile(function() return lab.ones(3, 3):add(1) end)
t:close(a, lab.full(2, 3, 3), "a tensor's elements are compared")
t:overlap(tl, "kernel", "kernel", { at_most_percent = 0 })
t:host_block(tl, { at_most_us = 0 })
t:done()
