-- random_work.lua - what the kernels of random programs do, as lab.kernel's `cost` has it: flops,
-- floating-point operations (of chase, operations on integers), and bytes, what all threads read
-- from global memory and write there, caches left aside.
--
--   local work = dofile(folder .. "../lib/random_work.lua")
--   lab.kernel{ args = ..., source = ..., cost = work.axpy }

local function count(size)
    if type(size) ~= "table" then return size end
    return size[1] * (size[2] or 1) * (size[3] or 1)
end

-- From f(blocks, threads of a block, the launch's arguments), which gives flops and bytes.
local function cost(f)
    return function(grid, block, ...)
        local flops, bytes = f(count(grid), count(block), ...)
        return { flops = flops, bytes = bytes }
    end
end

return {
    -- scripts/experiments/random_kernels.lua
    rounds = cost(function(_, _, _, n, rounds) return 8 * n * rounds, 8 * n end),
    transpose = cost(function(_, _, _, _, n) return 0, 8 * n * n end),
    rotate = cost(function(blocks, threads, _, held, rounds)
        return blocks * threads * rounds, 4 * blocks * (held + threads)
    end),
    outer = cost(function(blocks, threads, _, _, _, rounds)
        return blocks * threads * 128 * rounds, blocks * threads * 17 * 4
    end),
    histogram = cost(function(blocks, _, _, _, n) return n, 4 * n + blocks * 256 * 8 end),
    chase = cost(function(blocks, threads, _, _, _, steps)
        return 2 * blocks * threads * steps, 4 * blocks * threads * (steps + 1)
    end),
    -- scripts/lib/random_steps.lua, and axpy also random_kernels.lua
    axpy = cost(function(_, _, _, _, _, n) return 2 * n, 12 * n end),
    recur = cost(function(_, _, _, n, rounds) return 2 * n * rounds, 8 * n end),
}
