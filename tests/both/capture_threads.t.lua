-- capture_threads.t.lua - a capture that goes on in one thread of the host, and calls that another
-- one makes meanwhile. Settled on an H200 with CUDA 13.0 by a C++ program: in mode "global" the
-- other thread gets 900 each time and the capture is spoiled, in "thread_local" and "relaxed" it
-- gets 0 and the capture is whole.

local T = require "tap"

T.open()

-- CUDA's error that a call ends with; 0: it succeeded.
local function code_of(f, ...)
    local fine, err = pcall(f, ...)
    return fine and 0 or tonumber(err.message:match "(%d+)%)$") or err.message
end

-- The calls that a thread makes by turns, each in a thread and a capture of its own.
local calls <const> = {
    { "cudaEventQuery", function(_, event) event:query() end },
    { "cudaEventSynchronize", function(_, event) event:synchronize() end },
    { "cudaStreamQuery", function(stream) stream:query() end },
    { "cudaStreamSynchronize", function(stream) stream:synchronize() end },
    { "cudaMalloc", function() lab.cuda.malloc(1 << 20) end },
    { "cudaMallocHost", function() lab.cuda.malloc_host(1 << 20) end },
    { "cudaMallocAsync", function(stream) lab.cuda.malloc_async(1 << 20, stream) end },
}

-- Whether f(...) succeeds in a thread of its own, and what it says if not.
local function in_thread(f, ...)
    local th <const> = lab.thread(f, ...)
    local fine, err = pcall(th.join, th)
    return fine, not fine and err.message or nil
end

-- What the other thread gets, and what the capture ends with.
local function beside(mode, call)
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local other <close> = lab.stream{ non_blocking = true, name = "other" }
    local event <close> = lab.event()
    event:record(other)
    other:synchronize()
    s:begin_capture(mode)
    local fine, message = in_thread(call, other, event)
    local launched = code_of(lab.spin, 0, { stream = s })
    local ended = code_of(function() s:end_capture():free() end)
    return fine and 0 or tonumber(message:match "(%d+)%)$"), launched, ended, message
end

local function the_modes()
    for _, call in ipairs(calls) do
        local name <const>, f <const> = call[1], call[2]
        T.is_deeply({ beside("thread_local", f) }, { 0, 0, 0 },
                    name .. " of another thread is permitted beside a capture in mode thread_local")
        T.is_deeply({ beside("relaxed", f) }, { 0, 0, 0 }, "and beside a relaxed one")
        local code, launched, ended = beside("global", f)
        T.is_deeply({ code, launched, ended }, { 900, 901, 901 },
                    "in mode global it is refused, and spoils the capture")
    end
end

local function its_own_thread()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    s:begin_capture("thread_local")
    T.is(code_of(lab.cuda.malloc, 1 << 20), 900, "mode thread_local forbids it in its own thread")
    T.is(code_of(function() s:end_capture() end), 901, "and the capture is spoiled")
    local codes = { lab.thread(function(stream)
        local function code(f, ...)
            local fine, err = pcall(f, ...)
            return fine and 0 or tonumber(err.message:match "(%d+)%)$")
        end
        stream:begin_capture("thread_local")
        local at_call = code(lab.cuda.malloc, 1 << 20)
        return at_call, code(stream.end_capture, stream)
    end, s):join() }
    T.is_deeply(codes, { 900, 901 }, "whichever thread that is")
end

local function two_threads_capture()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local other <close> = lab.stream{ non_blocking = true, name = "other" }
    s:begin_capture("thread_local")
    local code, message = lab.thread(function(stream)
        stream:begin_capture("thread_local")
        local _, err = pcall(lab.cuda.malloc, 1 << 20)
        local _, at_end = pcall(stream.end_capture, stream)
        return tonumber(at_end.message:match "(%d+)%)$"), err.message
    end, other):join()
    T.is(code, 901, "of two threads that capture, each spoils its own capture")
    T.like(message, 'while stream "other" is captured', "which the error names")
    lab.spin(0, { stream = s })
    T.is(code_of(function() s:end_capture():free() end), 0, "the other thread's is whole")
end

local function what_it_says()
    local _, _, _, message = beside("global", function() lab.cuda.malloc(8) end)
    T.is(message, 'cudaMalloc may wait for other work, which mode "global" forbids in all threads '
         .. 'while stream "s" is captured: call it before the capture, or make a tensor, which is '
         .. 'permitted, or capture in mode "thread_local" (cudaErrorStreamCaptureUnsupported, 900)',
         "another thread is told which mode would leave it alone")
end

-- CUDA's runtime API, cudaStreamEndCapture: not relaxed, it ends in the thread that began it.
local function the_end()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local function end_it(stream) stream:end_capture():free() end
    for _, mode in ipairs{ "global", "thread_local" } do
        s:begin_capture(mode)
        local fine, message = in_thread(end_it, s)
        T.is(message,
             ('cudaStreamEndCapture: the capture of stream "s" in mode "%s" has to end in the '
             .. 'thread that began it: end it there, or capture in mode "relaxed" '
             .. "(cudaErrorStreamCaptureWrongThread, 908)"):format(mode),
             "another thread cannot end a capture in mode " .. mode)
        T.ok(not fine and s:capture_status() == "active", "which goes on")
        s:end_capture():free()
    end
    s:begin_capture("relaxed")
    lab.spin(0, { stream = s })
    T.ok(in_thread(end_it, s), "a relaxed one it can")
    T.is(s:capture_status(), "none", "and then it is over")
end

local function what_a_thread_leaves_behind()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local function begin_it(stream, mode) stream:begin_capture(mode) end
    for _, mode in ipairs{ "global", "thread_local" } do
        lab.thread(begin_it, s, mode):join()
        T.is(s:capture_status(), "none", "a capture in mode " .. mode .. " ends with its thread")
    end
    lab.thread(begin_it, s, "relaxed"):join()
    T.is(s:capture_status(), "active", "a relaxed one goes on")
    s:end_capture():free()
    s:begin_capture("relaxed")
    lab.thread(function(_) collectgarbage() end, s):join()
    T.is(s:capture_status(), "active", "and so does one whose stream a thread has had for a while")
    s:end_capture():free()
end

the_modes()
its_own_thread()
two_threads_capture()
what_it_says()
the_end()
what_a_thread_leaves_behind()
T.done()
