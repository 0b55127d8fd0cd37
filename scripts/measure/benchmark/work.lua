-- work.lua - what a launch of each kernel of the random programs does: flops, floating-point
-- operations (of chase operations on integers), and bytes, what its threads read from global memory
-- and write there, caches left aside. work[name](blocks, threads, ...): threads a block, and the
-- launch's arguments. The kernels are in scripts/experiments/random_kernels.lua and
-- scripts/lib/random_steps.lua.

return {
    axpy = function(_, _, _, _, _, n) return 2 * n, 12 * n end,
    recur = function(_, _, _, n, rounds) return 2 * n * rounds, 8 * n end,
    rounds = function(_, _, _, n, rounds) return 8 * n * rounds, 8 * n end,
    transpose = function(_, _, _, _, n) return 0, 8 * n * n end,
    rotate = function(blocks, threads, _, held, rounds)
        return blocks * threads * rounds, 4 * blocks * (held + threads)
    end,
    outer = function(blocks, threads, _, _, _, rounds)
        return blocks * threads * 128 * rounds, blocks * threads * 17 * 4
    end,
    histogram = function(blocks, _, _, _, n) return n, 4 * n + blocks * 256 * 8 end,
    chase = function(blocks, threads, _, _, _, steps)
        return 2 * blocks * threads * steps, 4 * blocks * threads * (steps + 1)
    end,
}
