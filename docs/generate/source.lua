-- source.lua - runs the Lua files of the source tree in the environment that the program
-- gives those built into it (repl/run/embedded.h), as far as docs/api needs it: for the
-- generators here, and for tests.

local source = {}

function source.quote(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The environment of a tree; `root` is "" for the current folder, else it ends in "/".
function source.environment(root)
    local environment, imported = setmetatable({}, { __index = _G }), {}

    function environment.import(path)
        if imported[path] == nil then
            imported[path] = assert(loadfile(root .. path, "t", environment))()
        end
        return imported[path]
    end

    -- The Lua files of a folder.
    function environment.embedded(folder)
        local paths = {}
        local pipe <close> = assert(io.popen("LC_ALL=C ls " .. source.quote(root .. folder)))
        for name in pipe:lines() do
            if name:find("%.lua$") then
                paths[#paths + 1] = folder .. name
            end
        end
        return paths
    end

    -- The bytes of a file.
    function environment.embedded_text(path)
        local file <close> = assert(io.open(root .. path))
        return file:read("a")
    end

    return environment
end

return source
