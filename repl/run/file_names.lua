-- file_names.lua - file names as they are typed behind a command, and what kind of file they name.

local files = {}

-- Without quotes around it, and with the home folder for "~/".
function files.name(text)
    local name = text:match("^\"(.*)\"$") or text:match("^'(.*)'$") or text
    local home = os.getenv("HOME")
    if home and home ~= "" and (name == "~" or name:find("^~/")) then
        name = home .. name:sub(2)
    end
    return name
end

-- Longer ones first.
local suffixes <const> = {
    ".json.gz", ".json", ".svg", ".html", ".et", ".goal", ".sqlite", ".lua",
}

-- Those of timelines, in a sentence.
files.of_timelines = ".json, .json.gz, .svg, .html, .et or .goal"

-- What the name ends in: ".json.gz", ".lua"; nil for others.
function files.suffix(name)
    for _, suffix in ipairs(suffixes) do
        if #name > #suffix and name:sub(-#suffix) == suffix then
            return suffix
        end
    end
end

-- Whether a timeline can be saved under the name.
function files.is_of_timeline(name)
    local suffix = files.suffix(name)
    return suffix ~= nil and suffix ~= ".lua" and suffix ~= ".sqlite"
end

return files
