-- The lab that tests/labs/attacks/ is graded with: what it asks for is little, and a test may
-- use little, so that all attacks are over soon.
return {
    id = "attack-lab",
    title = "Twice a number, twice a tensor",
    points = 100,
    profile = "textbook",
    functions = { "answer", "work" },
    limits = { processor_s = 1, wall_s = 10, memory_mib = 64, output_kib = 16 },
    forbidden = { "lab.synchronize", "stream:synchronize" },
}
