-- shown.lua - a timeline in a terminal: its name, what is in doubt, the verdict, the chart, figures
-- and where time was lost; one GPU below the other.

local command = import "repl/run/command.lua"
local text = import "repl/run/text.lua"

local shown = {}

-- In lines of 80 columns at most, or as many as the chart has. A number stays with its unit.
function shown.wrap(sentence, columns)
    local kept = (sentence .. " "):gsub("(%d) ([num]?[sx%%])(%W)", "%1\0%2%3")
    local lines = text.wrap(kept, "", "", columns)
    print((table.concat(lines, "\n"):gsub("\0", " ")))
end

-- Of what is printed: `what` as of shown.print, `several`, and whether something stands above.
local page = {}
page.__index = page

-- A blank line between what is printed.
function page:separate()
    if self.printed then
        print()
    end
    self.printed = true
end

-- Headed by its name, if there is more than one, or there is more than one part of it.
function page:print_title(tl)
    local what = self.what
    local columns = what.options.columns or 80
    if self.several or not what.some then
        self:separate()
        print(command.title(what.name, tl))
        self.printed = false
    end
    if not what.some and tl.span_count > 0 then
        for _, doubt in ipairs(tl.doubts) do
            shown.wrap(doubt.sentence, columns)
        end
        local verdict = command.try(tl.verdict, tl)
        if verdict.recording then
            shown.wrap(verdict.recording, columns)
        end
        shown.wrap(verdict.sentence, columns)
        if verdict.pause and what.parts then
            shown.wrap(("%s: %s prints a part."):format(verdict.pause, what.parts), columns)
        end
    end
end

function page:print_part(tl, method, ...)
    self:separate()
    command.try(method, tl, ...)
end

-- The first part below the chart opens with the verdict, unless it has been printed.
function page:print_figures(tl)
    local options, some = self.what.options, self.what.some
    local verdict = some ~= nil
    if options.summary or not some then
        self:print_part(tl, tl.summary, { verdict = verdict, columns = options.columns })
        verdict = false
    end
    if options.explain or not some then
        self:print_part(tl, tl.explain, { columns = options.columns, stream = options.stream,
                                          verdict = verdict })
    end
    if not options.stream and (options.explain or not some) then
        self:print_remedies(tl)
    end
end

-- What single changes would gain, below the losses.
function page:print_remedies(tl)
    local best = command.try(internals.need("whatif").best_remedies, tl)
    if best ~= "" then
        self:separate()
        io.stdout:write(best)
    end
end

function page:print_device(tl)
    local options, some = self.what.options, self.what.some
    local part, why = tl, nil
    if self.what.cut then
        part, why = self.what.cut(tl)
    end
    self:print_title(part or tl)
    if part and (options.by or options.idle) then
        self:print_part(part, part.summary, { by = options.by, idle = options.idle,
                                          columns = options.columns })
    end
    if options.chart or not some then
        self:print_part(tl, tl.show, { from_us = options.from, to_us = options.to,
                                       rows = options.rows, columns = options.columns })
    end
    -- Of an empty timeline each part would say only that.
    if not part then
        self:separate()
        local which = self.several and ("GPU %d: "):format(tl.device_index) or ""
        shown.wrap(which .. why .. ".", options.columns or 80)
    elseif part.span_count > 0 or some then
        self:print_figures(part)
    end
    self.printed = true
end

-- Prints a timeline: `name` of the file, `tl`, `load`, which gives the timeline of another of its
-- GPUs (nil: this one alone), and the options of `streamlab show`; `some`: only the parts that
-- these name; `parts`: the options that choose a part of it, if that is the whole; `cut` gives the
-- part of a timeline that figures are of, or nil and why there is none (nil: all of it).
function shown.print(what)
    local self = setmetatable({ what = what, several = #what.tl.device_indices > 1 }, page)
    if not what.load then
        self:print_device(what.tl)
        return
    end
    for _, device in ipairs(what.tl.device_indices) do
        self:print_device(device == what.tl.device_index and what.tl or what.load(device))
    end
end

return shown
