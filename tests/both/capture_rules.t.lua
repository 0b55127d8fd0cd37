-- capture_rules.t.lua - what may not be done while a stream is captured: each call in three modes
-- and with two kinds of streams as plain CUDA has it on a GPU (capture_table.lua), and what the
-- errors say.

local T = require "tap"
local measured = require "both.capture_table"
local measuring <const> = "tests/bench/cuda/graphs/rule_table.cuh"

T.open()

-- ---- the table -------------------------------------------------------------------------

-- What streamlab does otherwise: nodes that allocate, and copies between host tensors, which it
-- makes at once, are refused in a captured stream. cuBLAS's own code, 1, is CUDA's here.
local none <const> = "SL_EUNSUPPORTED/0"
local otherwise = {
    malloc_async_captured = none, free_async_captured = none, memcpy_async_h2h_captured = none,
}

-- What streamlab has no call for, or makes by itself.
local not_there = {
    "launch_legacy", "launch_not_loaded", "free_null", "host_alloc", "host_alloc_mapped",
    "malloc_async_and_free_async_captured", "memcpy_h2d_pinned_1k", "memcpy_h2d_pageable_1k",
    "stream_add_callback_captured", "event_record_external_captured",
    "event_record_external_then_query", "wait_outside_external", "wait_never_recorded_external",
    "fork_busy_then_capture", "get_capture_info_captured", "get_capture_info_null",
    "func_get_attributes", "func_set_attribute", "device_set_limit_heap_more",
    "device_get_attribute", "graph_upload_captured", "graph_upload_other", "get_last_error",
    "spoiled_get_capture_info", "spoiled_get_last_error", "cublas_sgemm_own_workspace",
    "cublas_set_stream",
    -- Here the same calls with another time of asking: see what_events_do().
    "event_record_then_synchronize_after", "event_record_then_elapsed_after",
    "event_record_then_wait_after", "event_record_then_record_after",
}

-- What follows for functions that are more than one call of CUDA, in the table's columns: tensors'
-- memory is streamlab's own; item() and a copy that blocks wait for their stream.
local own = {
    lab_empty = "0/0 0/0 0/0 0/0 0/0 0/0", lab_zeros_pinned = "0/0 0/0 0/0 0/0 0/0 0/0",
    lab_ones = "0/0 0/0 0/0 0/0 0/0 0/0", tensor_free = "0/0 0/0 0/0 0/0 0/0 0/0",
    item_captured = "900/901 900/901 900/901 900/901 900/901 900/901",
    item_other = "900/901 900/901 900/901 900/901 0/0 0/0",
    copy_captured = "900/901 900/901 900/901 900/901 900/901 900/901",
    copy_non_blocking = "0/0 0/0 0/0 0/0 0/0 0/0",
    wait_stream = "905/901 905/901 905/901 905/901 905/901 905/901",
    wait_stream_fork = "0/0 0/0 0/0 0/0 0/0 0/0",
    lab_graph = "900/901 900/901 900/901 900/901 0/0 0/0",
}

local columns = {
    "global blocking", "global nonblocking", "thread_local blocking", "thread_local nonblocking",
    "relaxed blocking", "relaxed nonblocking",
}

local function in_columns(cells)
    local list = {}
    for i, column in ipairs(columns) do list[i] = cells[column] or "missing" end
    return table.concat(list, " ")
end

-- By key: the cells of a row of the table, and whether the calls that spoiled their capture are
-- those whose capture ends with 901.
local function probe()
    local rows, order, odd = {}, {}, nil
    for _, row in ipairs(lab.capture_probes()) do
        if not rows[row.key] then
            rows[row.key] = {}
            order[#order + 1] = row.key
        end
        rows[row.key][row.mode .. " " .. row.streams] =
            ("%s/%d"):format(row.number or row.error, row.end_number)
        local spoiled_before = row.key:find "^spoiled_" ~= nil
        if row.spoils ~= (row.end_number == 901 and not spoiled_before) then odd = row.key end
    end
    return rows, order, odd
end

local function wanted(row)
    if otherwise[row.key] then return (otherwise[row.key] .. " "):rep(6):sub(1, -2) end
    local cells = in_columns(row)
    if row.key == "cublas_create" then cells = cells:gsub("%f[%d]1/901", "900/901") end
    return cells
end

local function the_table()
    local rows, order, odd = probe()
    local left = {}
    for key in pairs(rows) do left[key] = true end
    for _, key in ipairs(not_there) do left[key] = false end
    for _, row in ipairs(measured) do
        if rows[row.key] then
            T.is(in_columns(rows[row.key]), wanted(row), row.key .. " is as on the GPU")
        elseif left[row.key] ~= false then
            T.ok(false, row.key .. " is tried")
        end
        left[row.key] = nil
    end
    for _, key in ipairs(order) do
        if left[key] and not T.is(in_columns(rows[key]), own[key],
                                  key .. " follows from CUDA's calls")
           and not own[key] then
            T.diag("  no row in both/capture_table.lua: measure it with one in " .. measuring
                   .. ", or say above, in `own`, what follows")
        end
    end
    T.is(odd, nil, "a capture that a call has spoiled ends with 901, and no other")
    collectgarbage()
    collectgarbage()
    local live = lab.live()
    T.is(live.ops + live.graphs + live.streams + live.events + live.buffers + live.tensors, 0,
         "nothing is left behind")
end

-- ---- what errors say -------------------------------------------------------------------

local function message_of(f)
    local fine, err = pcall(f)
    return not fine and (err.code == "SL_ECAPTURE" or err.code == "SL_EUNSUPPORTED"
        or err.code == "SL_EINVAL") and err.message or fine and "no error" or tostring(err)
end

local function line_here() return debug.getinfo(2, "l").currentline end

local unsupported <const> = " (cudaErrorStreamCaptureUnsupported, 900)"

local function who_is_to_blame()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local x = lab.ones(4)
    s:begin_capture("thread_local")
    local line = line_here() + 1
    T.is(message_of(function() lab.with(s, x.item, lab.ones(1)) end),
         'cudaStreamSynchronize: stream "s" is captured, and its work runs only when the graph is '
         .. "launched: end the capture and launch the graph, then wait or read values; copies that "
         .. "do not block are permitted"
         .. unsupported, "the error of item() says why, and what to do instead")
    T.is(s:capture_status(), "invalidated", "the capture is spoiled")
    T.is(message_of(function() lab.spin(0, { stream = s }) end),
         ("cudaLaunchKernel: cudaStreamSynchronize at capture_rules.t.lua:%d has spoiled the "
             .. "capture "
         .. 'of stream "s" (cudaErrorStreamCaptureUnsupported): end it, and capture again without '
         .. "that call (cudaErrorStreamCaptureInvalidated, 901)"):format(line),
         "later errors name that call, and its line")
    T.like(message_of(function() s:end_capture() end),
           ("^cudaStreamEndCapture: cudaStreamSynchronize at capture_rules.t.lua:%d "):format(line),
           "so does the end")
    T.is(s:capture_status(), "none", "where the capture is over")
    lab.spin(0, { stream = s })
    s:synchronize()
    T.is(x:sum():item(), 4, "and all can be used again")
end

local function what_is_forbidden()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local b <close> = lab.stream{ non_blocking = false, name = "b" }
    local function says(stream, f, text, name)
        stream:begin_capture("global")
        T.is(message_of(f), text, name)
        pcall(stream.end_capture, stream)
    end
    says(s, function() lab.cuda.malloc(8) end,
         'cudaMalloc may wait for other work, which mode "global" forbids while stream "s" is '
         .. "captured: call it before the capture, or make a tensor, which is permitted, or "
         .. "capture "
         .. 'in mode "relaxed"' .. unsupported, "an allocation names the mode that permits it")
    says(s, function() b:synchronize() end,
         'cudaStreamSynchronize may wait for other work, which mode "global" forbids while stream '
         .. '"s" is captured: do it after the capture, or capture in mode "relaxed"' .. unsupported,
         "so does waiting for another stream")
    says(s, function() lab.synchronize() end,
         'cudaDeviceSynchronize waits for all streams, and "s" is captured: end the capture and '
         .. "launch the graph, then synchronize" .. unsupported, "waiting for the device")
    says(b, function() lab.spin(0, { stream = lab.default_stream() }) end,
         'cudaLaunchKernel in the NULL stream would wait for stream "b", which is captured and '
         .. "blocking: capture a non-blocking stream, or use another one here "
         .. "(cudaErrorStreamCaptureImplicit, 906)", "the NULL stream")
    says(s, function() s:wait_stream(b) end,
         'cudaStreamWaitEvent: stream "s" is captured, and what it waits for was recorded outside '
             .. 'of '
         .. "the capture: wait before the capture begins, or in the stream of the launch "
         .. "(cudaErrorStreamCaptureIsolation, 905)", "work of outside")
    says(s, function() lab.cuda.malloc_async(8, s) end,
         'cudaMallocAsync in stream "s", which is captured, would make a memory node, and '
             .. 'streamlab '
         .. "has none: call it before the capture or after it, or make a tensor, whose memory is "
         .. "the graph's", "memory nodes")
end

local function what_is_not_joined()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local b <close> = lab.stream{ non_blocking = true, name = "b" }
    s:begin_capture()
    lab.spin(0, { stream = s })
    b:wait_stream(s)
    local line = line_here() + 1
    lab.spin(0, { stream = b })
    T.is(message_of(function() s:end_capture() end),
         ('cudaStreamEndCapture: stream "b" has captured work at capture_rules.t.lua:%d that '
         .. 'stream "s" does not wait for: let it wait_stream for "b" before the capture ends '
         .. "(cudaErrorStreamCaptureUnjoined, 904)"):format(line),
         "a fork that has not come back is named, with the line of its last work")
    T.is(b:capture_status(), "none", "it is free again")
end

local function what_events_do()
    local s <close> = lab.stream{ non_blocking = true, name = "s" }
    local before, e = lab.event(), lab.event()
    before:record(s)
    lab.synchronize()
    s:begin_capture()
    lab.spin(0, { stream = s })
    e:record(s)
    T.is(message_of(function() before:elapsed_time(e) end),
         'cudaEventElapsedTime: the event was recorded in the capture of stream "s", and happens '
         .. "only in the graph: ask for an event that is recorded behind the launch "
         .. "(cudaErrorCapturedEvent, 907)", "a captured event has no time")
    local g = s:end_capture()
    local ended = ": the event's latest record was in a capture that has ended, so that it has "
        .. "neither a time nor anything to wait for: record it again (cudaErrorInvalidValue, 1)"
    local calls = {
        cudaEventQuery = function() e:query() end,
        cudaEventSynchronize = function() e:synchronize() end,
        cudaEventElapsedTime = function() before:elapsed_time(e) end,
        cudaStreamWaitEvent = function() s:wait_event(e) end,
    }
    for call, f in pairs(calls) do T.is(message_of(f), call .. ended, call .. " says so later") end
    e:record(s)
    e:synchronize()
    T.ok(e:query(), "until it is recorded again")
    g:free()
end

local function what_ends_captures()
    local s = lab.stream{ non_blocking = true }
    s:begin_capture()
    lab.spin(0, { stream = s })
    s:close()
    T.is(message_of(function() lab.cuda.free(lab.cuda.malloc(8)) end), "no error",
         "a capture ends with its stream")
    do
        local forgotten = lab.stream{ non_blocking = true }
        forgotten:begin_capture()
    end
    collectgarbage()
    collectgarbage()
    T.is(message_of(lab.synchronize), "no error", "also when the collector closes that")
end

local function what_is_asked_wrongly()
    local function refuses(opts, pattern, name)
        local fine, err = pcall(lab.capture_probes, opts)
        T.ok(not fine and tostring(err):find(pattern), name)
    end
    refuses({ calls = { "cudaFoo" } },
            'capture_probes: calls has "cudaFoo", which is not probed; known: ',
            "an unknown call is refused")
    refuses({ calls = 1 }, "option 'calls' must be a list of names", "and what is no list")
    local rows = lab.capture_probes{ calls = { "cudaGraphLaunch" } }
    T.is(#rows, 24, "only the calls that are asked for are made")
end

the_table()
who_is_to_blame()
what_is_forbidden()
what_is_not_joined()
what_events_do()
what_ends_captures()
what_is_asked_wrongly()
T.done()
