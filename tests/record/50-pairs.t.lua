-- 50-pairs.t.lua - the tables of pairs (programs/pairs.lua, pairs_more.lua) name the programs there
-- are, in their order: a pair's number is the name of its range in recordings. Python is not needed
-- here.
local tap = require "tap"

local words <const> = {}
for word in ("pin non_blocking move priority drop_sync drop_wait prefetch scale remove fuse graph "
    .. "batch buckets channels async host_scale threads profile"):gmatch "%S+" do
    words[word] = true
end

local programs = {}
for _, part in ipairs { "host", "device", "ranks", "more_host", "more_device", "more_ranks" } do
    local file <close> = assert(io.open("tests/record/programs/pairs_" .. part .. ".py"))
    for name, text in file:read("a"):gmatch '\n@pair\ndef ([%w_]+)%(after%):\n    """(.-)"""' do
        programs[#programs + 1] = name
        tap.ok(text:find "; ", name .. " says what its programs do before and after", text)
    end
end

local listed, odd = {}, {}
local rows <const> = dofile "tests/record/programs/pairs.lua"
table.move(dofile "tests/record/programs/pairs_more.lua", 1, 100, #rows + 1, rows)
for i, row in ipairs(rows) do
    listed[i] = row[1]
    for k = 2, #row do
        if not words[row[k][1]] then
            odd[#odd + 1] = row[1] .. ": " .. row[k][1]
        end
    end
    if #row < 2 then
        odd[#odd + 1] = row[1] .. ": no edit"
    end
end
tap.is(table.concat(listed, "\n"), table.concat(programs, "\n"),
    "each program has a row, in the programs' order")
tap.is(table.concat(odd, "\n"), "", "each row has edits, and there are edits of these names")

tap.done()
