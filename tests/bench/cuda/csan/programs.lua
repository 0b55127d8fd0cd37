-- programs.lua - the pairs in programs/, NAME.py and NAME.lua: what each does, what CUDA's rules
-- say of its two lines A and B, and what PyTorch's sanitizer should say by its source.
--
-- rules: "race", "accident" (in order, but no documentation promises it) or "ordered".
-- reads: what torch/cuda/_sanitizer.py should do: "reports" or "silent". It is in no table; the
-- runner names the programs of which this was wrong.

local function program(name, rules, reads, what)
    return { name = name, rules = rules, reads = reads, what = what }
end

return {
    -- streams and events
    program("no_wait", "race", "reports", "a kernel reads what another stream writes"),
    program("wait_stream", "ordered", "silent", "the same behind `wait_stream`"),
    program("write_after_read", "race", "reports", "a kernel overwrites what another stream reads"),
    program("early_event", "race", "reports", "the event is recorded before the work"),
    program("unrecorded_event", "race", "reports", "the event is never recorded"),
    program("wrong_stream", "race", "reports", "the host waits for the wrong stream"),
    program("three_streams", "ordered", "silent", "events lead through a third stream"),
    program("host_waits", "ordered", "silent",
            "the host waits for one stream and launches in another"),
    program("polled_event", "ordered", "reports", "the host asks the event until it has happened"),
    program("blocking_copy", "ordered", "reports",
            "a blocking copy to the host, then its source is overwritten in another stream"),
    -- the host
    program("host_refills", "race", "silent",
            "the host refills pinned memory that is being copied"),
    program("host_refills_later", "ordered", "silent", "the same behind a wait"),
    program("host_reads_early", "race", "silent",
            "the host reads pinned memory before it is filled"),
    program("pageable_read", "accident", "silent", "the same with pageable memory"),
    program("host_function", "race", "silent",
            "a host function writes pinned memory that another stream copies"),
    -- the NULL stream
    program("null_nonblocking", "race", "reports", "the NULL stream and a non-blocking stream"),
    program("null_blocking", "ordered", "reports", "the NULL stream and a blocking stream"),
    program("null_between", "ordered", "reports",
            "blocking streams, with a kernel of the NULL stream between"),
    -- views
    program("halves", "ordered", "silent", "two streams, two halves of a tensor"),
    program("overlapping_views", "race", "silent", "two streams write views that overlap"),
    program("part_of_whole", "race", "silent", "the second half is written, the whole is read"),
    program("first_part_of_whole", "race", "reports",
            "the first half is written, the whole is read"),
    -- memory
    program("freed_in_use", "race", "silent",
            "memory is given back, and used again, while another stream reads it"),
    program("freed_in_order", "ordered", "silent", "it is given back behind that stream"),
    program("fresh_memory", "ordered", "reports", "new memory is first written in a side stream"),
    -- an often-read answer on concurrent PyTorch streams
    program("answer_1", "ordered", "reports", "its first listing, \"overlapping data transfer\""),
    program("answer_2", "race", "reports", "its second, \"multi-stage pipeline\""),
    program("answer_3", "race", "reports", "its third, \"data prefetching\""),
}
