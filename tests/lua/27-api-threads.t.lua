-- 27-api-threads.t.lua - lab.thread: what is handed over, errors, and the thread's end.

local T = require "tap"
local ideal = require "lua.ideal"

ideal.textbook()

local function results_of(f, ...) return lab.thread(f, ...):join() end

local function values_are_copied()
    local given = { 1, 2.5, "x\0y", { deep = { true } }, [-3] = false }
    local whole, float, text, table_, missing, last = results_of(function(n, x, s, t, ...)
        t[1] = "changed"
        return n, x, s, t, ...
    end, 7, 7.0, "a\0b", given, nil, true)
    T.is(math.type(whole), "integer", "a whole number comes back as one")
    T.is(math.type(float), "float", "and a float as a float")
    T.is(text, "a\0b", "a string keeps its zero bytes")
    T.is(table_[1], "changed", "the thread has changed its table")
    T.is(given[1], 1, "which was a copy of the script's")
    T.is_deeply({ table_[3], table_[4], table_[-3] }, { "x\0y", { deep = { true } }, false },
                "the rest of the table is the same")
    T.ok(missing == nil and last == true, "nil in between is kept")
    T.is(select("#", results_of(function() end)), 0, "a function without results gives none")
end

local function objects_are_shared()
    local x, s, e = lab.zeros(2), lab.stream{ name = "given" }, lab.event()
    local back, stream, event = results_of(function(t, stream, events)
        lab.add(t, 5, { out = t, stream = stream })
        events.done:record(stream)
        return t, stream, events.done
    end, x, s, { done = e })
    T.is(stream, s, "a stream that comes back is the same stream")
    T.ok(e.recorded and event == e, "an event that the thread has recorded is recorded")
    e:synchronize()
    T.is(x:get(1), 5, "and the tensor has what the thread has computed")
    T.ok(back == x, "the tensor that comes back is the same one")
end

local function a_collected_argument_lives_on()
    local t = lab.thread(function(x)
        lab.host_work(1)
        return lab.add(x, 1):cpu():get(1)
    end, lab.full(41, 1))
    collectgarbage()
    T.is(t:join(), 42, "a tensor that only the thread has left stays alive")
end

local function each_thread_has_its_current_stream()
    local s <const> = lab.stream{ name = "mine" }
    lab.with(s, function()
        local name = results_of(function(other)
            local first = lab.current_stream().name
            local guard <close> = lab.use(other)
            lab.synchronize()
            return first .. ", " .. lab.current_stream().name
        end, lab.stream{ name = "other" })
        T.is(name, "default, other",
             "a thread begins in the default stream, whatever is current elsewhere")
        T.is(lab.current_stream().name, "mine", "and what it makes current is current there only")
    end)
end

local function each_thread_has_its_per_thread_stream()
    local own = lab.per_thread_stream()
    local same, id, again = results_of(function(other)
        local mine = lab.per_thread_stream()
        return mine == other, mine.id, lab.per_thread_stream() == mine
    end, own)
    T.ok(not same and id ~= own.id, "the per-thread default stream of a thread is its own")
    T.ok(again and own == lab.per_thread_stream(), "and the same one each time")
    T.throws_like(function() results_of(function() lab.per_thread_stream():close() end) end,
                  "the per%-thread default stream cannot be closed", "it cannot be closed there")
end

local function wrong_functions_are_refused()
    local outside = 3
    T.throws_like(function() lab.thread(function() return outside end) end,
                  "argument 1 %(f%) uses the local variable 'outside' from "
                      .. "outside.*lab%.thread%(f, outside%)",
                  "a local variable from outside is refused by name")
    local list = { 1 }
    T.throws_like(function() lab.thread(function() list[2] = 2 end) end,
                  "lab%.thread%(f, list%) %(a copy: return what you want back%)$",
                  "of a table it says that it is copied")
    T.throws_like(function() lab.thread(function() return outside end) end,
                  "lab%.thread%(f, outside%)$", "of a number there is no need to")
    T.throws_like(function() lab.thread(print) end, "is a function of C.*write function%(%.%.%.%)",
                  "so is a function of C")
    T.throws_like(function() lab.thread(3) end, "must be a function, got number",
                  "and what is no function")
    local laboratory <const> = lab
    T.throws_like(function() lab.thread(function() return laboratory end) end, "'laboratory'",
                  "the module by another name is a variable like others")
    T.is(results_of(function() return math.floor(2.5) .. type(lab.spin) end), "2function",
         "globals and lab are there")
    T.is(results_of(function() return require "streamlab" == lab end), true,
         "require gives the laboratory of the thread")
end

local function globals_of_the_script_are_refused()
    -- luacheck: globals s conf helper util class nowhere, ignore 431
    local function refused(pattern, name, f)
        T.throws_like(function() results_of(f) end, pattern, name)
    end
    local _ENV <close> = setmetatable({}, { __index = _G, __close = function() end })
    s, conf = lab.stream(), { n = 3 }
    function helper() return 1 end
    util = { scale = {}, apply = helper }
    class = setmetatable({}, { __index = util })
    refused("threads%.t%.lua:%d+: thread: 's' is a global variable of the script, which a thread "
            .. "cannot see: hand it over as an argument, lab%.thread%(f, s%)$",
            "a stream in a global is refused by name",
            function() lab.spin(1, { stream = s }) end)
    refused("'conf' is a global.*lab%.thread%(f, conf%) %(a copy: return what you want back%)$",
            "so is a table, before its field is read",
            function() return conf.n end)
    refused("'s' is a global", "also through _G", function() return _G.s end)
    refused("'helper' is a global.*: define it inside of the thread's function, or in a module",
            "a function cannot be handed over either, which the error knows",
            function() return helper() end)
    refused("'util' is a global.*: define it inside", "nor a table of functions",
            function() util.apply() end)
    refused("'class' is a global.*: define it inside", "nor one with a metatable",
            function() class.apply() end)
    refused("'conf' is a global", "a thread's thread does not see it either",
            function() return lab.thread(function() return conf end):join() end)
    T.is(results_of(function() return nowhere end), nil,
         "a name that nobody has is nil, as in the script")
    T.is(results_of(function() helper = nil local seen = rawget(_G, "s") return seen end), nil,
         "rawget asks for the thread's own")
    T.is(results_of(function() function helper() return 2 end return helper() end), 2,
         "a global that the thread has set itself is there")
    T.is(helper(), 1, "and the script's is as it was")
end

local function wrong_values_are_refused()
    local function refused(value, pattern, name)
        T.throws_like(function() lab.thread(function() end, value) end, pattern, name)
    end
    local itself = {}
    itself.list = { 1, { itself } }
    refused(itself, "argument 2, %.list%[2%]%[1%] is a table that lies in itself",
            "a circle of tables is refused")
    refused({ a = { print } }, "argument 2, %.a%[1%] is a function",
            "a function in a table is refused, with its place")
    refused(coroutine.create(print), "is a thread", "so is a coroutine")
    refused(setmetatable({}, {}), "is a table with a metatable", "a table with a metatable")
    refused({ [{}] = 1 }, "is a key of a table", "a table as a key")
    refused(io.stdout, "is a userdata", "a file")
    refused(lab.device(), "is a device", "a device")
    local closed = lab.stream()
    closed:close()
    refused(closed, "argument 2 has been closed or freed", "a stream that is closed")
    local freed = lab.zeros(1)
    freed:free()
    refused(freed, "has been closed or freed", "a tensor that is freed")
    local nested = {}
    for _ = 1, 200 do nested = { nested } end
    refused(nested, "lies in more than 100 tables", "tables that are nested too deep")
    T.throws_like(function() results_of(function() return 1, print end) end,
                  "join: result 2 is a function", "and a result that cannot be handed over")
    local twice = { 5 }
    local both = results_of(function(t) return t end, { twice, twice })
    T.is(both[1][1] + both[2][1], 10, "a table that lies in another one twice is no circle")
end

local function objects_of_another_machine_are_refused()
    local here = lab.stream()
    ideal.textbook()
    T.throws_like(function() lab.thread(function() end, here) end,
                  "argument 2 is of another machine than the thread",
                  "a stream of another machine is refused")
end

local function errors_are_raised_by_join()
    local function line(f, ...)
        local ok, err = pcall(results_of, f, ...)
        return not ok and err
    end
    T.like(line(function() error("boom") end), "27%-api%-threads%.t%.lua:%d+: boom$",
           "an error has the line of the thread's function")
    local err = line(function() lab.matmul(lab.ones(2, 3), lab.ones(2, 3)) end)
    T.is(err.code, "SL_ESHAPE", "an error of the laboratory stays an object")
    T.like(tostring(err), "27%-api%-threads%.t%.lua:%d+: matmul: inner sizes differ",
           "with its position")
    T.like(line(function() error({}) end), "error object is a table value",
           "another table is named")
    T.is(results_of(function() return (pcall(error, "caught")) end), false,
         "an error that the thread catches is none")
    local failed = lab.thread(function()
        local function inner() error("deep") end
        inner()
    end)
    T.is(failed.traceback, nil, "a thread that has not been joined has no traceback")
    T.ok(not pcall(failed.join, failed), "joining one that has failed raises")
    T.like(failed.traceback, "in %a+ 'inner'.*27%-api%-threads",
           "and then it has that of the thread")
    local t = lab.thread(function() return 1 end)
    t:join()
    T.throws_like(function() t:join() end, "thread %d+ has been joined already",
                  "a thread is joined once")
    T.ok(t:done(), "a thread that is joined is done")
    T.like(tostring(t), "^thread %d+ %(joined%)$", "and says so")
end

local function what_belongs_to_the_first_thread()
    local function refused(f, name)
        T.throws_like(function() results_of(f) end, "first thread", name)
    end
    refused(function() lab.open{ backend = "sim" } end, "a thread opens no device")
    refused(function() lab.check("warn") end, "it does not turn the race checker on")
    refused(function() os.exit(3) end, "it does not end the program")
    refused(function()
        lab.kernel{ name = "k", args = { "inout f32*" }, cost = { us = 1 }, cpu = function() end }
    end,
            "it has no kernels that are computed by a function of its own")
    local t = lab.thread(function() end)
    T.throws_like(function() lab.check("warn") end, "join them first",
                  "while there are some the race checker stays off")
    t:join()
end

local function scopes_join()
    local x = lab.zeros(1)
    do
        local t <close> = lab.thread(function(y) lab.host_work(1) y:fill_(3) end, x)
    end
    T.is(x:get(1), 3, "the end of a scope waits for its thread")
    T.throws_like(function() local t <close> = lab.thread(function() error("in scope") end) end,
                  "in scope$", "and raises its error")
    T.throws_like(function()
        local t <close> = lab.thread(function() error("in scope") end)
        error("first")
    end, "first$", "unless another error ends the scope")
end

local function threads_start_threads()
    T.is(results_of(function(n)
        local inner = lab.thread(function(m) return m + 1 end, n)
        return inner:join() * 2
    end, 4), 10, "a thread starts and joins threads of its own")
    local x = lab.zeros(1)
    results_of(function(y)
        lab.thread(function(z) lab.host_work(5) z:fill_(9) end, y)
    end, x)
    T.is(x:get(1), 9, "those that it does not join are joined at its end")
end

local function host_functions_end_before_their_thread()
    local s = lab.stream()
    local t = lab.thread(function(stream)
        lab.spin(1, { stream = stream })
        stream:launch_host_func(function() lab.host_work(0.5) end)
    end, s)
    t:join()
    T.ok(s:query(), "a thread ends after the host functions that it has launched")
end

local function many()
    local sum = 0
    for i = 1, 300 do sum = sum + results_of(function(n) return n end, i) end
    T.is(sum, 45150, "300 threads, one after the other")
    local threads = {}
    for i = 1, 60 do
        threads[i] = lab.thread(function(n) lab.host_work(0.01 * n) return n end, i)
    end
    for i = 1, 60 do sum = sum - threads[i]:join() end
    T.is(sum, 45150 - 1830, "and 60 at a time")
end

values_are_copied()
objects_are_shared()
a_collected_argument_lives_on()
each_thread_has_its_current_stream()
each_thread_has_its_per_thread_stream()
wrong_functions_are_refused()
globals_of_the_script_are_refused()
wrong_values_are_refused()
errors_are_raised_by_join()
what_belongs_to_the_first_thread()
scopes_join()
threads_start_threads()
host_functions_end_before_their_thread()
many()
objects_of_another_machine_are_refused()

T.done()
