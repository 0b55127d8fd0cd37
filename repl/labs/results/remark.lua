-- remark.lua - why a submission has no points at all, in a line; nil for others.

-- What all tests have ended with, in a line. Hidden tests tell nothing here: all of them say what
-- a visible one says, too.
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
    return graded.problem and graded.problem:match("[^\n]*") or common_error(graded)
end
