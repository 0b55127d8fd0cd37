-- 82-server.t.lua - streamlab --server: requests as lines of JSON on one descriptor, replies on
-- another; what scripts print stays on stdout.
local tap = require "tap"
local shell = require "repl.shell"
local json = debug.getregistry()["streamlab.environment"].import "repl/run/json.lua"

local folder <const> = shell.folder()
local requests <const>, replies <const> = folder .. "/requests", folder .. "/replies"
local options <const> = " --backend sim --profile textbook "

local function read_replies()
    local list = {}
    for line in io.lines(replies) do
        list[#list + 1] = json.read(line)
    end
    return list
end

-- The replies to these lines behind the first, which says that the server is ready; then what it
-- printed, and its status.
local function ask_lines(text)
    shell.write(requests, text)
    local out, err, code = shell.sh(("COLUMNS=80 LC_ALL=C.UTF-8 \"$P\" %s --server 3<%s "
        .. "4>%s"):format(
        options, requests, replies))
    local list = read_replies()
    tap.is(list[1].event, "ready", "the server says that it is ready")
    return table.move(list, 2, #list, 1, {}), out, err, code
end

-- The same of requests as tables.
local function ask(...)
    local lines = {}
    for i, request in ipairs { ... } do lines[i] = json.write(request) .. "\n" end
    return ask_lines(table.concat(lines))
end

local function run(code) return { request = "run", code = code } end

-- ---- running ---------------------------------------------------------------------------

local got, out, err, code = ask({ request = "run", id = 7, code = "print('hi'); x = 20; x + 1" },
    { request = "run", id = "b", code = "_ * 2" }, run "_ + 0.5;", run "1, 'a'",
    run "x = #arg", run "")
tap.is(out, "hi\n", "what an entry prints is on stdout, and nothing else is")
tap.is(code .. err, "0", "at the end of the requests it ends well")
tap.is_deeply(got[1], { event = "result", id = 7, data = { ["text/plain"] = "21" } },
    "an entry's value is a result with the request's id")
tap.is_deeply(got[2], { ok = true, id = 7, count = 1 },
              "then comes the answer, with the entry's number")
tap.is_deeply({ got[3].data["text/plain"], got[3].id }, { "42", "b" }, "_ is the last value")
tap.is_deeply(got[5], { ok = true, count = 3 }, "with a semicolon there is no result")
tap.is(got[6].data["text/plain"], "1\t\"a\"", "several values are as at the prompt")
tap.is_deeply({ got[8], got[9] }, { { ok = true, count = 5 }, { ok = true, count = 5 } },
    "without a value there is no result; nothing is no entry")
tap.is(ask(run "#arg, arg[1]")[1].data["text/plain"], "0\tnil", "entries have no arguments")
tap.is(#got, 9, "each request has one answer")

got, out, err = ask(run "y = 5\nlab.strem()", run "y", run "for",
                    run "lab.matmul(lab.ones(2, 3), lab.ones(2, 3))")
tap.is_deeply(got[1].error, { name = "Error",
    message = "lab[1]:2: attempt to call a nil value (field 'strem')",
    traceback = { "lab[1]:2: attempt to call a nil value (field 'strem')", " 2 | lab.strem()",
        "   |     ^~~~~", "hint: did you mean lab.stream?" } },
    "an error has its name, its message, the line with a mark and the hint")
tap.is(got[1].ok, false, "and is no success")
tap.is(got[2].data["text/plain"], "5", "what was before it is kept")
tap.is(got[4].error.name, "SyntaxError", "so has one of the compiler")
tap.is(got[5].error.name, "SL_ESHAPE", "one of the laboratory has its code as its name")
tap.is(out .. err, "", "nothing of that is printed")

got, out = ask(run ".timer on\n?lab.spin", run ".streams\n1 + 1")
tap.like(out, "lab.spin%(ms", "lines for the console work, and print")
tap.is(got[2].data["text/plain"], "2", "and what stands below them is run")

-- ---- bundles ------------------------------------------------------------------------------

got = ask(run "lab.tensor{{1, 2}, {3, 4.5}}:cpu()",
    run "{{name = '<b>', n = 1}, {name = 'c', n = 2}}",
    run "lab.table{{n = 1, us = 2.5}}", run "tl = lab.profile(lab.spin, 1); tl",
    run "display(tl, 'page')", run "display(5)", run "display(5, 'page')", run "display()",
    run "lab.rand(7, 9):cpu()",
    run "lab.table{{n = 1, us = 2.5}}:plot{x = 'n', y = 'us', width_px = 300}")
local tensor, records, results, timeline = got[1].data, got[3].data, got[5].data, got[7].data
tap.is(tensor["text/plain"], "tensor 2x2 float32 on cpu, pageable, 16 bytes\n  1.0000  2.0000\n"
    .. "  3.0000  4.5000", "a tensor is a text")
tap.is(tensor["text/html"], "<p>tensor 2x2 float32 on cpu, pageable, 16 bytes</p>\n<table>"
    .. "<tr><td>1.0000</td><td>2.0000</td></tr>\n<tr><td>3.0000</td><td>4.5000</td></tr></table>",
    "and HTML")
tap.is(records["text/html"], "<table><tr><th></th><th>name</th><th>n</th></tr>\n<tr><th>[1]</th>"
    .. "<td>&lt;b&gt;</td><td>1</td></tr>\n<tr><th>[2]</th><td>c</td><td>2</td></tr></table>",
    "so is a list of records, whose texts are escaped")
tap.is(results["text/html"],
       "<table><tr><th>n</th><th>us</th></tr>\n<tr><td>1</td><td>2.5</td></tr>"
    .. "</table>", "so is a table of results")
tap.like(timeline["text/plain"], "^timeline of 1 span: makespan 1000.0 us",
         "a timeline is its chart")
tap.like(timeline["image/svg+xml"], '^<svg [^>]*width="800".*</svg>%s*$',
    "and a picture, as pages have them")
local whatif = ask(run "w = lab.whatif(lab.profile(lab.spin, 1)); w", run "w:scale('*', 0.5)")
tap.like(whatif[1].data["text/plain"], "^whatif %(0 changes%)\nPlayed unchanged",
    "a recorded program says what could be gained")
tap.is(whatif[1].data["image/svg+xml"], nil, "without a picture")
tap.like(whatif[3].data["text/plain"], "500 us instead of 1%.00 ms.*\nbefore\n.*\nafter\n",
    "with a change it has both charts")
tap.like(whatif[3].data["image/svg+xml"], ">Before: .*>After: ", "also as a picture")
tap.is(got[9].event, "display", "display(tl, \"page\") shows while the entry runs")
tap.like(got[9].data["text/html"], '^<iframe [^<>]*srcdoc="<!DOCTYPE html>.*</iframe>$',
    "the page, in a frame")
tap.ok(not got[9].data["text/html"]:match 'srcdoc="(.*)"></iframe>$':find('"', 1, true),
    "within which quotes are escaped")
tap.is(got[11].data["text/plain"], "5", "display(x) shows any value")
tap.like(got[13].error.message, "must be a timeline to be shown as a page, got number",
    "nothing else has a page")
tap.is(got[14].error.name, "SL_EINVAL", "nor is nothing shown")
local rows = select(2, got[15].data["text/html"]:gsub("<tr>", ""))
local cells = select(2, got[15].data["text/html"]:gsub("<td>", ""))
tap.is(rows .. " " .. cells, "7 49", "of a larger tensor the corners are shown, with gaps between")
tap.like(got[17].data["image/svg+xml"], '^<svg [^>]*width="300".*</svg>%s*$',
    "a plot is a picture, as wide as it is said")

-- ---- questions ----------------------------------------------------------------------------

got = ask({ request = "complete", code = "s = 'ä'\nlab.matm" },
    { request = "complete", code = "lab.matm(", cursor = 7 },
    { request = "inspect", code = "lab.matmul", cursor = 6 },
    { request = "inspect", code = "lab.matmul(a, " },
    { request = "inspect", code = "nothing_known_here" }, { request = "inspect", code = "" },
    { request = "is_complete", code = "for i = 1, 2 do" },
    { request = "is_complete", code = "1 + 1" },
    { request = "is_complete", code = "a b" }, { request = "is_complete", code = "?lab" },
    { request = "complete", code = "x", cursor = 2 },
    { request = "complete", code = "x", cursor = "1" })
tap.is_deeply(got[1], { ok = true, words = { "matmul" }, from = 12, to = 16 },
    "completion counts characters, not bytes")
tap.is_deeply({ got[2].words, got[2].from, got[2].to }, { { "matmul" }, 4, 7 },
    "and looks at what is before the cursor")
for i = 3, 4 do
    tap.like(got[i].data and got[i].data["text/plain"], "^lab.matmul%(a, b, { out",
        "help about " .. (i == 3 and "the name at the cursor" or "the call around it"))
end
tap.is_deeply({ got[5].found, got[6].found }, { false, false }, "where there is none, that is said")
tap.is(("%s %s %s %s"):format(got[7].state, got[8].state, got[9].state, got[10].state),
    "incomplete complete invalid complete", "is_complete says whether a prompt goes on")
tap.like(got[11].error.message, "'cursor' at most its length", "a place behind the code is refused")
local said = {}
for i, text in ipairs { "lab.profile(lab.spin", "lab.profile(lab.spin, 1)",
                        "lab.profile(lab.spin(2))", "lab.profile(nothing" } do
    local place = text:find("spin", 1, true) or text:find("nothing")
    said[i] = ask({ request = "inspect", code = text, cursor = place })[1].data["text/plain"]
end
for i = 1, 2 do
    tap.like(said[i], "^lab.profile%(f.*\n\nlab.spin%(ms",
             "an argument gets the help about its call, and then its own")
end
tap.like(said[3], "^lab.spin%(ms", "a call within a call gets its own")
tap.like(said[4], "^lab.profile%(f", "an argument without help gets that of its call")
tap.like(got[12].error.message, "'cursor' must be a whole number", "and one that is no number")

-- ---- numbers of entries, notices -------------------------------------------------------------

got, out, err = ask({ request = "run", code = "error('x')", number = 19 }, run "?lab.spin",
    { request = "run", code = "error('y')", number = 21 },
    { request = "run", code = "error('z')", number = 3 }, run "7",
    { request = "run", code = "lab.stream { priority = -1000 }; lab.stream { priority = 1000 }",
      number = 30 },
    { request = "run", code = "1", number = 0 }, { request = "run", code = "1", number = 2.5 })
tap.is(got[1].error.traceback[1], "lab[19]:1: x",
       "an entry has the number that the client gives it")
tap.is(got[3].error.message, "lab[21]:1: y",
       "also behind lines for the console, which count for the client alone")
tap.is(got[4].error.message, "lab[22]:1: z", "but none that an entry has had")
tap.is(got[6].count, 23, "without one it is the next")
tap.like(out, "\nstreamlab: priority %-1000 is outside [^\n]* is used\n$",
         "notices are printed on stdout")
tap.is(err, "", "since they are no errors")
for i = #got - 1, #got do
    tap.like(got[i].error.message, "'number' must be a whole number from 1 to 1000000",
             "a wrong number is refused")
end

-- ---- values and arrays ----------------------------------------------------------------------

local array = string.pack("=dddd", 1, -2.5, 3, 1e300)
got = ask_lines(json.write { request = "put", name = "a", dtype = "float64", shape = { 2, 2 },
                             bytes = 32 } .. "\n"
    .. array .. json.write(run "a:get(1, 2), a.device") .. "\n"
    .. json.write { request = "put", name = "no name", dtype = "float64", shape = { 1 }, bytes = 8 }
    .. "\n\n2345678"
    .. json.write { request = "put", name = "b", dtype = "float64", shape = { 2 }, bytes = 8 }
    .. "\n\n2345678"
    .. json.write { request = "put", name = "b", dtype = "complex", shape = { 1 }, bytes = 8 }
    .. "\n\n2345678"
    .. json.write { request = "put", shape = { 1 }, bytes = 8 } .. "\n\n2345678"
    .. json.write { request = "put", name = "v", value = { 1, { x = "y" } } } .. "\n"
    .. json.write { request = "get", name = "v" } .. "\n"
    .. json.write { request = "get", name = "nowhere" } .. "\n")
tap.is(got[1].ok, true, "an array comes behind its line")
tap.is(got[2].data["text/plain"], "-2.5\t\"cpu\"", "and is a tensor on the host")
tap.like(got[4].error.message, "name of a variable", "what has no name is refused")
tap.like(got[5].error.message, "'bytes' must be 16", "so is an array of another size")
tap.like(got[6].error.message, "'dtype' must be",
         "or of an unknown dtype, and its bytes are no request")
tap.like(got[7].error.message, "'name' of a request to put",
         "so are the bytes of one without a name")
tap.is_deeply(got[9], { ok = true, kind = "value", value = { 1, { x = "y" } } },
              "a value comes back")
tap.like(got[10].error.message, "no global variable 'nowhere'", "one that is not there is refused")

shell.write(requests, json.write(run "t = lab.tensor{1.5, 2}; r = lab.table{{n = 1}}; tl = \z
    lab.profile(lab.spin, 1)") .. "\n" .. json.write { request = "get", name = "r" } .. "\n"
    .. json.write { request = "get", name = "tl" } .. "\n"
    .. json.write { request = "get", name = "t" } .. "\n")
shell.sh(("\"$P\" %s --server 3<%s 4>%s"):format(options, requests, replies))
local text = shell.read(replies)
local line, bytes = text:match('\n({[^\n]*"kind":"array"[^\n]*})\n(.*)$')
tap.is_deeply(line and json.read(line),
    { ok = true, kind = "array", dtype = "float32", shape = { 2 }, bytes = 16 },
    "a tensor is an array")
tap.is(bytes, string.pack("=dd", 1.5, 2), "whose numbers follow")
local tables = {}
for found in text:gmatch '\n({[^\n]*"kind":"table"[^\n]*})' do
    tables[#tables + 1] = json.read(found)
end
tap.is_deeply({ tables[1].rows, tables[1].columns }, { { { n = 1 } }, { "n" } },
              "results are a table")
tap.is(tables[2].rows[1].kind, "kernel", "so are a timeline's spans")

got = ask(run "v = {} v.a = v v.b = v t = lab.table{{a = ('x'):rep(1000000), b = 2}, \z
    {a = 'y', b = 3}} s = ('x'):rep(70 << 20)",
    { request = "get", name = "v", id = 2 }, { request = "get", name = "s", id = 3 }, run "v",
    run "t", run "s")
tap.is_deeply(got[2], { ok = true, id = 2, kind = "value",
                        value = { a = json.other, b = json.other } },
    "a table that holds itself comes back without itself")
tap.like(got[3].id .. got[3].error.message, "^3the value is too large for JSON: more than 67108864 "
    .. "bytes", "a value that is too large is refused")
for i, most in pairs { [4] = 1000, [6] = 7000, [8] = 3000 } do
    local data = got[i].data
    tap.ok(#data["text/plain"] + #(data["text/html"] or "") < most,
           "and a short text is shown of it")
end

-- ---- what is no request ---------------------------------------------------------------------

got, out, err, code = ask_lines('nonsense\n[1]\n"x"\n{"request":"fly","id":3}\n{"request":"run"}\n'
    .. '{"request":"run","code":"' .. ("x"):rep(9 << 20) .. '"}\n{"request":"run","code":"1 + 1"}\n'
    .. '{"request":"run","code":"unfinished')
for i, message in ipairs { "no JSON at byte 1", "must be run, complete", "must be an object",
    "must be run, complete, inspect", "'code' of a request to run must be a string",
    "a line of at most 8 MiB" } do
    tap.like(got[i].error and got[i].error.message, message, "a wrong line is refused: " .. message)
end
tap.is(got[4].id, 3, "with the id that it had")
tap.is(got[7].data["text/plain"] .. #got, "28", "after them the next request is answered as ever")

got, out, err, code = ask(run "x = 1", { request = "reset", id = 1 }, run "x",
                          { request = "quit" }, run "print(1)")
tap.is_deeply({ got[2].ok, got[3].event, got[4].data["text/plain"] }, { true, "ready", "nil" },
    "after a reset there is a new state")
tap.is_deeply(got[5].count, 1, "whose entries are counted from 1")
tap.is(out .. code .. #got, "06", "after quit nothing is answered")

out, err, code = shell.sh "\"$P\" --server 3<&- 4>/dev/null"
tap.is(code, 2, "without its descriptors there is no server")
tap.like(err, "descriptor 3 open to read requests from, and 4 to write replies to; 3 is not",
         "which is said")
out, err, code = shell.sh "\"$P\" --server=x"
tap.like(err, "two descriptors, as %-%-server=3,4, got 'x'", "so are wrong ones")
shell.write(requests, json.write(run "1 + 1") .. "\n")
shell.sh(("\"$P\" %s --server=5,6 5<%s 6>%s"):format(options, requests, replies))
tap.is(#read_replies(), 3, "others can be named")

-- ---- the reader goes ------------------------------------------------------------------------

-- As the first of a pipeline the server leads a group of processes that it has not started. The
-- last one goes on until the server has ended, which closes `open`.
if shell.sh "command -v bash" ~= "" then
    shell.write(requests, json.write(run "while true do end") .. "\n")
    out, err = shell.sh(([[cd %s; mkfifo open; cat >pipeline <<'END'
set -m
"$P" --backend sim --server 3<requests 4>&1 5>open >/dev/null |
    { exec 6<open; read -r line; exec 0<&-; cat <&6; echo "goes on" >&2; }
END
P="$P" timeout 30 bash pipeline]]):format(shell.quote(folder)))
    tap.is(out .. err, "goes on\n",
           "a server whose reader goes ends itself, and nobody else of a pipeline")
else
    tap.skip("there is no bash", 1)
end

-- ---- SIGINT ---------------------------------------------------------------------------------

-- Each is interrupted after it has printed "go", and once more when nothing runs. What is printed:
-- the milliseconds from the signal to the reply, and the reply.
local session <const> = [[
cd ]] .. shell.quote(folder) .. [[; mkfifo q r
"$P" --backend sim --server 3<q 4>r >printed & server=$!
exec 3>q 4<r
read -r line <&4
printf '%s\n' '{"request":"run","code":"n = 5"}' >&3; read -r line <&4
for code in 'while true do end' 'lab.host_work(1) while true do pcall(function() while true do end end) end'; do
    : >printed
    printf '{"request":"run","code":"print(\\"go\\") %s"}\n' "$code" >&3
    until grep -q go printed; do sleep 0.01; done
    from=$(date +%s%N); kill -INT $server; read -r line <&4; to=$(date +%s%N)
    echo "$(((to - from) / 1000000)) $line"
    kill -INT $server; if [ "$code" = 'while true do end' ]; then sleep 2.1; else sleep 0.5; fi
done
printf '%s\n' '{"request":"run","code":"n"}' >&3; read -r line <&4; echo "0 $line"
exec 3>&-; wait $server; echo "0 $?"
]]
out = shell.sh(session)
local told = {}
for ms, rest in out:gmatch "(%d+) ([^\n]*)\n" do
    told[#told + 1] = { tonumber(ms), json.read(rest) }
end
local slack = tonumber(os.getenv "STREAMLAB_TEST_TIMEOUT") or 1
for i = 1, 2 do
    tap.is(told[i][2].error.name, "Interrupted", "SIGINT ends the entry that runs")
    tap.ok(told[i][1] <= 500 * slack, ("within half a second: %d ms"):format(told[i][1]))
end
tap.is(told[3][2].data["text/plain"], "5",
       "its state is kept, and SIGINT while nothing runs does nothing")
tap.is(told[4][2], 0, "and it ends as ever")

shell.remove(folder)
tap.done()
