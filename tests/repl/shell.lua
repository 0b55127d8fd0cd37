-- shell.lua - runs the program under test in a shell, for the tests of this folder.
local shell = {}

shell.program = os.getenv("STREAMLAB") or "build/streamlab"

-- A word that the shell takes as it stands.
function shell.quote(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- A new empty folder; removed by shell.remove.
function shell.folder()
    local pipe = assert(io.popen("mktemp -d"))
    local path = pipe:read("l")
    pipe:close()
    return path
end

function shell.remove(folder)
    os.execute("rm -rf " .. shell.quote(folder))
end

function shell.write(path, text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return path
end

-- The whole of a file, or nil.
function shell.read(path)
    local file = io.open(path)
    local text = file and file:read("a")
    if file then
        file:close()
    end
    return text
end

-- What a command's environment is: the simulator, whether this build has a plugin and
-- this machine a GPU or not.
shell.environment = "unset STREAMLAB_BACKEND; export STREAMLAB_CUDA_PLUGIN=none"

-- Starts a shell command in which $P is the program. Returns a function that waits for its
-- end and returns what it wrote to stdout and stderr, and its exit status (128 + n for
-- signal n).
function shell.start(command)
    local errors = os.tmpname()
    local script = "P=" .. shell.quote(shell.program) .. "; " .. shell.environment
        .. "; exec 2>" .. shell.quote(errors) .. "\n"
    local pipe = assert(io.popen(script .. command))
    return function()
        local out = pipe:read("a")
        local _, how, code = pipe:close()
        local err = shell.read(errors)
        os.remove(errors)
        return out, err, how == "signal" and 128 + code or code
    end
end

function shell.sh(command)
    return shell.start(command)()
end

-- Starts each of the functions of a list, some of them at a time (4), and calls `take(i, ...)`
-- in the list's order with what the function that it returns gives.
function shell.each(list, take, at_a_time)
    at_a_time = at_a_time or 4
    local running = {}
    for i = 1, #list + at_a_time do
        local due = i - at_a_time
        if running[due] then
            take(due, running[due]())
        end
        running[i] = list[i] and list[i]()
    end
end

-- Runs the program with a list of arguments, and a text as stdin.
function shell.run(arguments, input)
    local words = { "\"$P\"" }
    for _, word in ipairs(arguments) do
        words[#words + 1] = shell.quote(word)
    end
    local command = table.concat(words, " ")
    if input then
        command = "printf %s " .. shell.quote(input) .. " | " .. command
    end
    return shell.sh(command)
end

-- Starts a script in the program, which gets SIGINT a moment after it has printed its first
-- line; and again after each of `more`, a list of seconds. `input` is its stdin, false one
-- that says nothing and does not end. Returns a function that waits for its end and returns
-- the status, what it wrote to stderr, and to stdout after that line.
function shell.start_interrupted(file, options, input, more)
    local stdin = input and "printf %s " .. shell.quote(input) .. " | " or ""
    local finish = shell.start(stdin .. [[
perl -e '
    $SIG{INT} = "DEFAULT";
    my @more = split(/ /, shift @ARGV);
    if (shift @ARGV) { pipe(my $r, our $w) or die; open(STDIN, "<&", $r) or die; }
    my $pid = open(my $from, "-|", @ARGV) or die;
    my $line = <$from>;
    select(undef, undef, undef, 0.05);
    kill "INT", $pid;
    for (@more) { select(undef, undef, undef, $_); kill "INT", $pid; }
    local $/; my $rest = <$from>;
    print $rest;
    close($from);
    exit($? & 127 ? 100 : $? >> 8);
' ]] .. shell.quote(table.concat(more or {}, " ")) .. (input == false and " 1" or " ''")
        .. ' "$P" ' .. (options or "") .. " " .. (file and shell.quote(file) or ""))
    return function()
        local out, err, code = finish()
        return code, err, out
    end
end

function shell.interrupted(...)
    return shell.start_interrupted(...)()
end

-- The figures of a profile, a file's path or a name, with those of its base.
function shell.profile(profile)
    return (debug.getregistry()["streamlab.internals"].load_profile(profile))
end

return shell
