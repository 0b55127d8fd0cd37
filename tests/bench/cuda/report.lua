-- report.lua - the table of bench-cuda: what each side took, how the two compare, what is to
-- hold. A row is printed as soon as it is there. With a file, all rows are written to it as
-- Markdown after each section, so that a run that was cut short leaves what it had.

local report = {}
report.__index = report

local layout = "  %-46s %26s %26s %12s %14s  %s"

-- header: the lines above the tables. path: the Markdown file, or nil.
function report.new(header, path)
    return setmetatable({ header = header, path = path, sections = {}, held = 0, missed = 0 },
                        report)
end

-- Of a list of numbers: the median, and the numbers that a share `tail` of them (default 0)
-- lies below and above.
function report.summary(samples, tail)
    local sorted = table.move(samples, 1, #samples, 1, {})
    table.sort(sorted)
    local n = #sorted
    local cut = math.floor(n * (tail or 0))
    return { median = (sorted[(n + 1) // 2] + sorted[n // 2 + 1]) / 2, low = sorted[1 + cut],
             high = sorted[n - cut] }
end

-- A section's title, how it is measured, and what the two columns of figures are.
function report:section(title, how, left, right)
    self.sections[#self.sections + 1] = { title = title, how = how, left = left, right = right,
                                          rows = {} }
    print(("\n%s\n  %s"):format(title, how:gsub("\n", "\n  ")))
    print((layout:format("what", left, right, "compared", "to hold", ""):gsub("%s+$", "")))
    io.stdout:flush()
end

-- One row of texts. holds: true, false, or nil where there is no limit.
function report:row(what, left, right, compared, to_hold, holds)
    local verdict = holds == nil and "" or holds and "holds" or "MISSED"
    local row = { what, left, right, compared, to_hold, verdict }
    local rows = self.sections[#self.sections].rows
    rows[#rows + 1] = row
    if holds then self.held = self.held + 1 end
    if holds == false then self.missed = self.missed + 1 end
    print((layout:format(table.unpack(row)):gsub("%s+$", "")))
    io.stdout:flush()
end

local function figures(summary, unit)
    return ("%.2f (%.2f to %.2f) %s"):format(summary.median, summary.low, summary.high, unit)
end

-- Right over left, by medians; most: the largest that is allowed, or nil.
function report:ratio(what, left, right, unit, most)
    local ratio = right.median / left.median
    self:row(what, figures(left, unit), figures(right, unit), ("%.3f x"):format(ratio),
             most and ("<= %.2f x"):format(most) or "", most and ratio <= most)
end

-- Right less left, by medians; most: the largest that is allowed, or nil.
function report:difference(what, left, right, unit, most)
    local difference = right.median - left.median
    self:row(what, figures(left, unit), figures(right, unit), ("%+.2f %s"):format(difference, unit),
             most and ("<= %+.2f %s"):format(most, unit) or "", most and difference <= most)
end

function report:verdict()
    return ("%d limits hold, %d MISSED"):format(self.held, self.missed)
end

local function markdown(section)
    local lines = { "\n## " .. section.title, "", section.how, "",
                    ("| what | %s | %s | compared | to hold | |")
                        :format(section.left, section.right),
                    "|---|---|---|---|---|---|" }
    for _, row in ipairs(section.rows) do
        lines[#lines + 1] = "| " .. table.concat(row, " | ") .. " |"
    end
    return table.concat(lines, "\n")
end

-- Writes the file again, if there is one.
function report:save()
    if not self.path then return end
    local parts = { self.header }
    for _, section in ipairs(self.sections) do
        if #section.rows > 0 then parts[#parts + 1] = markdown(section) end
    end
    local file = assert(io.open(self.path, "w"))
    file:write(table.concat(parts, "\n"), "\n")
    assert(file:close())
end

return report
