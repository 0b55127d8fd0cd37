-- bundle.lua - values as texts by their MIME type, of which a client shows the richest that it can:
-- text/plain, which is what the prompt shows, and besides image/svg+xml of timelines and of
-- programs with changes, text/html of tensors and tables.

local api = import "repl/run/api.lua"
local files = import "repl/run/files.lua"
local html = import "repl/server/html.lua"
local values = import "repl/console/values/values.lua"

local bundle = {}

-- A cell's output is narrower than a page.
local picture_px <const> = 800

local function saved(tl, suffix, options)
    return files.made(suffix, function(path) tl:save(path, options) end)
end

-- Notebooks become pages (nbconvert), within which an SVG must not declare what XML it is.
local function without_declaration(svg)
    return (svg:gsub("^<%?xml.-%?>%s*", ""))
end

-- Whether something was recorded, and more of it than sums.
function bundle.has_picture(tl)
    return not tl.recording and tl.span_count > 0 and tl.keep == "spans"
end

local function add_picture(data, value)
    local kind = internals.type_name(value)
    if kind == "timeline" and bundle.has_picture(value) then
        data["image/svg+xml"] = without_declaration(saved(value, ".svg", { width_px = picture_px }))
    elseif api.class_of(value) == "whatif" then
        if #value:changes() > 0 and not value:identity().problem then
            data["image/svg+xml"] = without_declaration(saved(value:timeline(), ".svg",
                { width_px = picture_px, beside = value:before() }))
        end
    elseif kind == "tensor" then
        data["text/html"] = html.tensor(value)
    elseif api.class_of(value) == "results" then
        data["text/html"] = html.results(value)
    elseif type(value) == "table" then
        data["text/html"] = html.records(value)
    end
end

-- Of one value; of several there is their text alone.
function bundle.of(...)
    local data = { ["text/plain"] = values.text(...):gsub("\n$", "") }
    if select("#", ...) == 1 then
        add_picture(data, ...)
    end
    return data
end

-- A plot as a file's text, and as the terminal has it.
function bundle.plot(svg, text)
    return { ["image/svg+xml"] = without_declaration(svg), ["text/plain"] = text }
end

-- A timeline as the page that tl:save("x.html") writes: within a frame of its own, or, if `whole`,
-- as that file's text.
function bundle.page(tl, whole)
    local data, page = bundle.of(tl), saved(tl, ".html")
    data["image/svg+xml"] = nil
    data["text/html"] = whole and page or html.frame(page)
    return data
end

return bundle
