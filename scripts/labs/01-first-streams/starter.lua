-- Lab 1: first streams. Change the three functions: as they stand they give the right results, one
-- thing after the other. `streamlab submission.lua`, this file's name, shows how they do.

-- Calls first() and second(), each of which enqueues work on the current stream and returns a
-- tensor, so that both run at the same time. Returns the two tensors, and waits for nothing.
function side_by_side(first, second)
    return first(), second()
end

-- library() enqueues its work on the default stream, whatever you do; own() on the current one.
-- Both shall run at the same time. Returns their two tensors, and waits for nothing.
function beside_library(library, own)
    return library(), own()
end

-- Starts background(), which is long, then computes x * x on the GPU and copies it to the host.
-- Returns the host tensor when its values are there; the background need not be done by then.
-- x may not be written yet: the work that makes it may still be in the stream that is current when
-- fetch is called.
function fetch(x, background)
    background()
    return lab.mul(x, x):to("cpu")
end

-- What `streamlab submission.lua` shows. It is not run when the file is graded.
if arg then
    local function products(count)
        local a, out = lab.empty(2048, 2048), lab.empty(2048, 2048)
        return function()
            for _ = 1, count do lab.matmul(a, a, { out = out }) end
            return out
        end
    end
    local function kernel(ms, value)
        return function()
            lab.spin(ms)
            return lab.full(value, 1)
        end
    end
    local big = lab.empty(64, 512, 512, { device = "cpu", pinned = true })
    local on_gpu = lab.empty(64, 512, 512)
    local function upload() return on_gpu:copy_(big, { non_blocking = true }) end
    local five = products(5)
    local function library() return lab.with(lab.default_stream(), five) end

    local function report(title, tl, done, missing)
        print(("\n%s: %.2f ms"):format(title, tl.makespan_us / 1000))
        tl:show()
        print(done and "done" or "MISSING: " .. missing)
    end
    -- Whether nearly all of the shorter of two parts of a timeline runs beside the other one.
    local function beside(tl, a, b)
        return tl:overlap_us(a, b) > 0.9 * math.min(tl:busy_us(a), tl:busy_us(b))
    end

    local tl = lab.profile(side_by_side, products(5), upload)
    report("side_by_side", tl, beside(tl, "kernel", "memcpy_h2d"),
        "the copy should run beside the products. Which streams are they in?")

    tl = lab.profile(beside_library, library, kernel(1, 4))
    report("beside_library", tl, beside(tl, { name = "matmul_f32" }, { name = "spin" }),
        "your kernel should run beside the products, which are in the default stream")

    local x, value, held_us = lab.full(3, 4, 4)
    tl = lab.profile(function()
        local from_us = lab.now_us()
        value = fetch(x, kernel(2, 0)):get(1, 1)
        held_us = lab.now_us() - from_us
    end)
    local missing = {}
    if value ~= 9 then
        table.insert(missing, ("the first value was %g on return, and should be 9"):format(value))
    end
    if held_us >= 1000 then
        table.insert(missing, ("the call held the host for %.2f ms, and should for much less than "
            .. "the 2 ms of the background"):format(held_us / 1000))
    end
    report("fetch", tl, #missing == 0, table.concat(missing, "; "))

    print("\nThe tests: streamlab lab check")
end
