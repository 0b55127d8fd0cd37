-- remark.lua - why a submission has no points at all, in a line; nil for others.

local text = import "repl/run/text.lua"

local most_bytes <const> = 200      -- of a message, which may be a student's

-- The error that ended all tests, in a line. It reveals nothing of hidden tests, because a
-- visible test must have the same.
local function common_error(graded)
    local common, is_visible
    for _, test in ipairs(graded.tests) do
        local first = test.output:match("^error: ([^\n]*)")
        if test.passed or not first or common and first ~= common then
            return nil
        end
        common, is_visible = first, is_visible or not test.hidden
    end
    return is_visible and common or nil
end

return function(graded)
    local remark = graded.problem and graded.problem:match("[^\n]*") or common_error(graded)
    return remark and #remark > most_bytes and text.head(remark, most_bytes) .. "..." or remark
end
