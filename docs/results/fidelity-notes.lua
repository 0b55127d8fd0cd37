-- Why the scripts that are furthest off in docs/results/fidelity.jsonl are, from the operations of
-- both sides (streamlab compare --dump). Pages show it.
return {
    ["scripts/experiments/random.lua --seed 431"] = "Three streams' kernels with much shared memory: "
        .. "on the GPU the large matmul got its first SMs 0.2 ms earlier, and all others a place before it",
    ["scripts/experiments/random.lua --seed 524"] = "Uploads of 25 MiB of pageable memory: 1.6 ms on the "
        .. "GPU's host, 2.4 ms from memory that is not in its caches in the calibration",
    ["scripts/experiments/random.lua --seed 574"] = "One upload of 14 MiB of pageable memory: 1.1 ms, "
        .. "simulated 1.5 ms as of memory that is in no cache",
    ["scripts/experiments/random.lua --seed 426"] = "Pageable copies of 22 MiB each way: 2.1 and 1.2 ms, "
        .. "simulated 2.4 and 1.4 ms as of memory that is in no cache",
    ["scripts/experiments/single_stream.lua"] = "Uploads of 16 MiB of page-locked memory that the host "
        .. "has just written: 0.4 to 1.6 ms from one to the next, simulated 0.3 ms at the engine's rate",
    ["scripts/experiments/overlap_data_computation.lua"] = "Uploads of 4 MiB of page-locked memory "
        .. "that the host has just written: 0.09 to 0.5 ms, simulated 0.08 ms; pageable ones took 15 % longer",
    ["scripts/experiments/random.lua --seed 482"] = "The copy engine took one stream's 45 MiB upload before "
        .. "others that were ready with it; simulated in the order of the calls",
    ["scripts/experiments/random.lua --seed 490"] = "The copy engine took two streams' uploads in the other "
        .. "order, so that a spin of 1.4 ms came in front of another kernel and not behind it",
    ["scripts/experiments/random.lua --seed 538"] = "A pageable upload of 15 MiB took 1.1 ms, simulated 0.9; "
        .. "kernels beside copies are slowed more on the GPU",
    ["scripts/experiments/random.lua --seed 444"] = "The copy engine took two streams' uploads in the other "
        .. "order, and a matmul beside a pow took three times as long as simulated",
}
