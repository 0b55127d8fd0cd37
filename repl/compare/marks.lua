-- marks.lua - how scripts are marked in pictures: a shape and a colour for each kind.

local marks = {}

local colours <const> = { experiments = "#1f77b4", puzzler = "#d62728", random = "#2ca02c",
                          others = "#7f7f7f" }

local shapes <const> = {
    experiments = '<circle cx="%.1f" cy="%.1f" r="4" fill="%s"%s',
    puzzler = '<path transform="translate(%.1f %.1f)" d="M0 -6 L5 4 H-5 Z" fill="%s"%s',
    random = '<path transform="translate(%.1f %.1f)" d="M0 -5 L5 0 L0 5 L-5 0 Z" fill="%s"%s',
    others = '<path transform="translate(%.1f %.1f)" d="M-4 -4 H4 V4 H-4 Z" fill="%s"%s',
}

local escapes <const> = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(text)
    return (text:gsub("%c", "?"):gsub('[&<>"]', escapes))
end

function marks.sign(kind)
    return shapes[kind]:format(0, 0, colours[kind], "/>")
end

-- Of a result; who points at it is told its name and ratio.
function marks.of(result, x, y)
    local r, kind = result.record, result.entry.kind
    local title = ("%s: %.3f"):format(result.entry.name, r.sim_us / r.gpu_us)
    return shapes[kind]:format(x, y, colours[kind], (' fill-opacity="0.6"><title>%s</title></%s>')
        :format(escape(title), shapes[kind]:match("^<(%a+)")))
end

return marks
