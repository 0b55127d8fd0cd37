-- banner.lua - what the REPL says at the start.

local banner = {}

function banner.show()
    io.write("streamlab ", lab.version, ": `lab` is the laboratory; Ctrl-D ends\n")
end

return banner
