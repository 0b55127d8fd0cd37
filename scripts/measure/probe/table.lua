-- table.lua - the rows of lab.probes as text: each call with its sizes, what it did on both
-- kinds of streams, and below it what is said of it and whether that holds. 80 columns are enough.

local lists = import "repl/run/lists.lua"
local measuring = import "repl/run/measuring.lua"

local table_of = {}

local function size(bytes)
    if not bytes then
        return ""
    elseif bytes % 2^20 == 0 then
        return ("%d MiB"):format(bytes // 2^20)
    elseif bytes % 2^10 == 0 then
        return ("%d KiB"):format(bytes // 2^10)
    end
    return ("%d B"):format(bytes)
end

-- Three digits: "6.08 us", "10.0 ms".
local function duration(us)
    local unit = "us"
    if us >= 999.5 then
        us, unit = us / 1000, "ms"
    end
    local form = us < 9.995 and "%.2f %s" or us < 99.95 and "%.1f %s" or "%.0f %s"
    return form:format(us, unit)
end

local result_form <const> = "%7s %-5s %-8s %7s"

local function result(row)
    return result_form:format(duration(row.host_us), row.host_blocked and "WAITS" or "",
        row.serialised and "APART" or "together", duration(row.total_us))
end

local first_column <const> = 18
local line_form <const> = "%-" .. first_column .. "s%-30s  %s"

local function line(text, row, exempt)
    return line_form:format(text, result(row), result(exempt))
end

local streams <const> = {
    NULL = "in the NULL stream", first = "in the first stream", second = "in the second stream",
}

local function heading(row)
    local words = { row.call }
    words[#words + 1] = row.memory
    words[#words + 1] = streams[row.into]
    return table.concat(words, ", ")
end

local verdicts <const> = { yes = "holds", no = "DOES NOT HOLD" }

local function verdict(claim)
    if not claim.holds then
        return "left open"
    end
    return verdicts[claim.holds] or ("holds in %d of %d"):format(claim.agree, claim.rows)
end

-- Rows of one heading, in pairs: blocking streams, and exempt ones.
local function add_group(out, rows)
    local name = heading(rows[1])
    out[#out + 1] = ""
    if #rows == 2 and #name < first_column then
        out[#out + 1] = line(name, rows[1], rows[2])
    else
        out[#out + 1] = name
        for i = 1, #rows, 2 do
            out[#out + 1] = line("  " .. size(rows[i].bytes), rows[i], rows[i + 1])
        end
    end
    for _, claim in ipairs(lab.claims(rows)) do
        out[#out + 1] = ("  %-10s %-50s %s"):format(claim.by .. ":", claim.says, verdict(claim))
    end
end

local function add_tally(out, rows)
    for _, claims in ipairs(lists.group(lab.claims(rows), function(claim) return claim.by end)) do
        local count = { yes = 0, no = 0, partly = 0, open = 0 }
        for _, claim in ipairs(claims) do
            local holds = claim.holds or "open"
            count[holds] = count[holds] + 1
        end
        local open = count.open > 0 and ("; %d left open"):format(count.open) or ""
        out[#out + 1] = ("%-10s of %2d claims %2d hold, %2d in part, %2d do not%s"):format(
            claims.key .. ":", #claims, count.yes, count.partly, count.no, open)
    end
end

local introduction <const> = [[
A kernel runs in the first stream, then comes the call, then one in the second.
host     how long the call took; WAITS: it waited for the kernel (one that is
         only slow is not marked: it takes as long without a kernel)
kernels  from the first one's start to the second one's end; APART: one by one]]

function table_of.text(rows, title)
    local out = { title, introduction, "" }
    out[#out + 1] = line_form:format("", "blocking streams", "with cudaStreamNonBlocking")
    local columns = result_form:format("host", "", "kernels", "")
    out[#out + 1] = line_form:format("call", columns, columns)
    for _, group in ipairs(lists.runs(rows, heading)) do
        add_group(out, group)
    end
    out[#out + 1] = ""
    add_tally(out, rows)
    for _, left in ipairs(measuring.not_probed()) do
        out[#out + 1] = "not asked, for " .. left[2] .. ":"
        out[#out + 1] = "  " .. left[1]:gsub(", ", ",\n  ")
    end
    return lists.join(out, function(text) return (text:gsub("%s+$", "")) end, "\n") .. "\n"
end

-- The fields of a row in JSON, and how a value is written.
table_of.fields = { { "call", '"%s"' }, { "memory", '"%s"' }, { "bytes", "%d" }, { "into", '"%s"' },
                    { "streams", '"%s"' }, { "host_us", "%.3f" }, { "total_us", "%.3f" },
                    { "host_blocked", "%s" }, { "serialised", "%s" } }

return table_of
