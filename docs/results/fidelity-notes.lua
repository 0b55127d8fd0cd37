-- Why the scripts that are furthest off in docs/results/fidelity.jsonl are, from the operations of
-- both sides (streamlab compare --dump). Pages show it.
local fast_uploads <const> = "Uploads of pageable memory that is in no cache were faster on this host: "
local fast_host <const> = "This host moved pageable memory faster than the median of ten occasions, "
    .. "which h200 has: simulated, "

return {
    ["scripts/experiments/concurrency_matrix.lua"] = "It makes pinned tensors while it is recorded: "
        .. "simulated their memory is new and page-locked, on the GPU earlier runs had left some",
    ["scripts/experiments/random.lua --seed 3025"] = fast_uploads .. "29 MiB in 2.3 ms, simulated 3.2 ms",
    ["scripts/experiments/random.lua --seed 3017"] = fast_uploads
        .. "11.6 MiB in 0.9 ms, simulated 1.3 ms",
    ["scripts/experiments/random.lua --seed 3009"] = fast_uploads
        .. "7.6 MiB in 0.64 ms, simulated 0.93 ms",
    ["scripts/experiments/random.lua --seed 3053"] = fast_uploads
        .. "4.5 MiB in 0.34 ms, simulated 0.51 ms",
    ["scripts/experiments/random.lua --seed 3036"] = fast_uploads
        .. "2.2 MiB in 0.41 ms, simulated 0.48 ms, in a program of 1.3 ms",
    ["scripts/experiments/random.lua --seed 3015"] = fast_host .. "71 MiB of uploads take 8.6 ms",
    ["scripts/experiments/random.lua --seed 3083"] = fast_host .. "108 MiB of uploads take 11.2 ms",
    ["scripts/experiments/random.lua --seed 3072"] = fast_host .. "88 MiB of uploads take 9.6 ms",
    ["scripts/experiments/random.lua --seed 3045"] = fast_host .. "41 MiB of uploads take 4.7 ms",
    ["scripts/experiments/pinned_memory.lua"] = fast_host
        .. "512 MiB of uploads take nearly all of it",
    ["scripts/puzzler.lua --variant nonblocking"] = "Uploads of 4 MiB of pageable memory, 100 of them: the "
        .. "same script took 64, 87 and 82 ms on three H200s; the stated range is 61 to 103 ms",
    ["scripts/puzzler.lua --variant blocking"] = "The same uploads: 102, 122 and 113 ms on three H200s; the "
        .. "stated range is 80 to 146 ms",
    ["scripts/experiments/pipeline.lua"] = "The host: the same script took 495 ms on "
        .. "another H200. Which of its calls were slower here was not kept",
    ["scripts/experiments/single_stream.lua"] = "Uploads of 16 MiB of page-locked memory that the host "
        .. "has just written: 0.4 to 1.6 ms from one to the next on an earlier day. On another H200 "
        .. "the script took 50.2 ms",
    ["scripts/experiments/overlap_data_computation.lua"] = "Uploads of 4 MiB of page-locked memory "
        .. "that the host has just written: 0.09 to 0.5 ms on an earlier day. On another H200 the script "
        .. "took 3.53 ms",
}
