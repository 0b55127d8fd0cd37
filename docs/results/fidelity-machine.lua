-- What docs/results/fidelity.jsonl was measured on.
return {
    gpu = "NVIDIA H200",
    driver = "580.159.04",
    cuda = "13.0",
    date = "2026-11-23",
    profile = "h200",
    seeds = "3001-3100",
    runs = 5,
}
