-- What most assertions have in common.
local name <const> = { "name", "string", "a sentence that says what is asserted" }
local made <const> = { "name", "string", "what is asserted", default = "a sentence made of the arguments" }
local tl <const> = { "tl", "timeline", "as `lab.profile` gives it" }
local passed <const> = { { "boolean", "whether it passed; true as well if it was skipped" } }
local recording <const> = { "SL_ESTATE", "the timeline is still recording" }
local counts <const> = { "count", "table", "`{ exactly = }`, or `{ at_least =, at_most = }` or one of these" }

return {
    title = "Assertions",
    class = "tap",
    order = 77,
    about = [[
Assertions test programs that use streams: that the numbers are right, and also that copies and kernels overlapped, that
there was no race, and that no call held the host.

A script makes an object with `lab.tap`, calls its methods, and ends with `t:done()`. Each assertion prints a line of
the [Test Anything Protocol](https://testanything.org/tap-version-13-specification.html), `ok 1 - name` or
`not ok 1 - name`, which `prove` and many other programs read. After a failed assertion come lines that begin with `#`:
what was seen, what was asked, where to look, and for times the chart:

```text
not ok 1 - kernel and memcpy_h2d overlap by at least 80 %
#   seen   0.0 % (0 ns of 537 us)
#   asked  at least 80.0 %
#   look   lab.lua:8: No kernel ran for 530 us: the host was blocked in Memcpy
#          HtoD (Pageable -> Device) at lab.lua:8: a copy from pageable memory
#          holds the host, which feeds it piece by piece
#          -> Pin `batch` (t:pin_memory(), or pinned = true): H2D from
#          pageable memory blocks the host 564 us
# default  |.....................#######################################|  65%
# copies   |>>>>>>>>>>>>>>>>>>>>>.......................................|  35%
#          ++------+-------+-------+-------+------+-------+-------+-----+ busy
#          0.0    0.2     0.4     0.6     0.8    1.0     1.2     1.4 ms
#           # kernel  > copy H2D  . idle
```

The tests of a [course lab](program.md#streamlab-lab) get such an object as `t`; `streamlab lab check` and
`streamlab lab grade` run each test in a process of its own, and grade a submission by its assertions. There `look`
names waits that were not needed, if there are any, since the largest wait is often a necessary one.

A failed assertion raises no error: the script goes on. A wrong assertion raises `SL_EINVAL`: an unknown option, a
missing threshold, a value that is not a timeline.

## On a real GPU

Thresholds for times are meant for the simulated GPU, where the same program always takes the same time. For a timeline
of a real GPU the options with the same names and the prefix `gpu_` apply, and without them the assertion is skipped:
`{ at_least_percent = 80, gpu_at_least_percent = 40 }`. Counts, values and races are asserted on both.]],
    entries = {
        {
            name = "lab.tap",
            brief = "begins a test: an object whose methods are assertions",
            options = { { "plan", "integer", "how many assertions there will be", default = "as many as there are" } },
            returns = { { "tap", "the object" } },
            errors = { { "SL_EUNSUPPORTED", "there is no `io` library to print with" } },
            example = [[
local t = lab.tap()
t:is(lab.ones(2, 3):numel(), 6, "two rows of three are six")  --> ok 1 - two rows of three are six
t:done()  --> 1..1]],
            see = { "tap:done", "lab.profile" },
        },
        {
            name = "tap:ok",
            brief = "asserts that a value is neither nil nor false",
            arguments = { { "value", "any", "the value" }, name },
            returns = passed,
            example = [[
local t = lab.tap()
t:ok(lab.current_stream():query(), "nothing is left to do")  --> ok 1 - nothing is left to do]],
            see = { "tap:is" },
        },
        {
            name = "tap:is",
            brief = "asserts that two values are equal; tables are compared item by item",
            arguments = { { "got", "any", "the value" }, { "want", "any", "the expected value" }, name },
            returns = passed,
            about = [[
It calls no metamethods: two objects are equal if they are the same object. NaN equals nothing. A failure says where
tables first differ. A table that is nested more than 50 deep or has more than a million items equals no other.]],
            example = [[
local t = lab.tap()
t:is({ lab.ones(2, 3):size() }, { 3, 2 }, "the sizes are swapped")
--> not ok 1 - the sizes are swapped
--> #   seen   2 at [1]
--> #   asked  3 there]],
            see = { "tap:close", "tap:near" },
        },
        {
            name = "tap:near",
            brief = "asserts that two numbers are equal within a tolerance",
            arguments = {
                { "got", "any", "the number; any other value fails" }, { "want", "number", "the expected number" },
                { "tolerance", "number", "by how much they may differ, from 0" }, name,
            },
            returns = passed,
            example = [[
local t = lab.tap()
t:near(lab.ones(4):sum():item(), 4, 1e-6, "four ones are four")  --> ok 1 - four ones are four]],
            see = { "tap:close", "tap:at_most" },
        },
        {
            name = "tap:at_most",
            brief = "asserts that a number is not larger than another one",
            arguments = { { "got", "any", "the number; any other value fails" }, { "limit", "number", "the largest that is right" }, name },
            returns = passed,
            example = [[
local t = lab.tap()
t:at_most(7, 5, "no more than five")
--> not ok 1 - no more than five
--> #   seen   7
--> #   asked  at most 5]],
            see = { "tap:at_least" },
        },
        {
            name = "tap:at_least",
            brief = "asserts that a number is not smaller than another one",
            arguments = { { "got", "any", "the number; any other value fails" }, { "limit", "number", "the smallest that is right" }, name },
            returns = passed,
            example = [[
local t = lab.tap()
t:at_least(7, 5, "five or more")  --> ok 1 - five or more]],
            see = { "tap:at_most" },
        },
        {
            name = "tap:close",
            brief = "asserts that the elements of a tensor equal those of another tensor, or a number, within a tolerance",
            arguments = {
                { "got", "any", "the tensor; any other value fails" },
                { "want", "tensor|number|table", "a tensor of the same shape, a number for all elements, or nested lists as for `lab.tensor`" },
                { "...", "table|string", "`{ rtol =, atol = }` if they are needed, then the name" },
            },
            returns = passed,
            blocks = "until earlier work in the current stream is done, if a tensor is on the GPU",
            errors = { { "SL_EINVAL", "`want` is none of these" } },
            about = [[
It passes if `|got - want| <= atol + rtol * |want|` for each element. The defaults of `rtol` and `atol` are those of
`torch.testing.assert_close`: 1.3e-6 and 1e-5 for float32, 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 1e-7
and 1e-7 for float64, 0 for int32 and uint8; for two dtypes the larger ones, and lists have none. NaN differs from
everything. Tensors on the GPU are copied to the host in the current stream: if another stream writes one, the current
stream must have waited for that.]],
            example = [[
local t = lab.tap()
local a = lab.tensor{ { 1, 2 }, { 3, 4 } }
t:close(a:add(a), { { 2, 4 }, { 6, 8 } }, "twice as much")  --> ok 1 - twice as much
t:close(a, 1, { atol = 0.5 }, "all are about one")
--> not ok 2 - all are about one
--> #   seen   2 at (1, 2); 3 of 4 elements differ
--> #   asked  1 there (rtol 1.3e-06, atol 0.5)]],
            pytorch = "torch.testing.assert_close",
            see = { "lab.allclose", "tap:near" },
        },
        {
            name = "tap:raises",
            brief = "asserts that a function raises an error with a certain text",
            arguments = {
                { "f", "function", "called without arguments" },
                { "text", "string", "a part of the error's text; for an error of streamlab its code will do too" }, name,
            },
            returns = passed,
            example = [[
local t = lab.tap()
t:raises(function() lab.zeros(2, 3):view(4) end, "SL_ESHAPE", "six are not four")  --> ok 1 - six are not four]],
            pytorch = "unittest.TestCase.assertRaisesRegex",
            see = { "tap:ok" },
        },
        {
            name = "tap:overlap",
            brief = "asserts how much two selections of work ran at the same time",
            arguments = {
                tl, { "a", "stream|string|table", "a selection, as for `tl:overlap_us`" }, { "b", "stream|string|table", "another one" },
                { "limits", "table", "`{ at_least_percent =, at_most_percent = }` or one of these; `gpu_at_least_percent`, `gpu_at_most_percent`" }, made,
            },
            returns = passed,
            errors = { recording },
            about = [[
The percentage is the overlap divided by the busy time of the selection that was busy for the shorter time: 100 if all
of it ran beside the other. If one of the two did not run at all, the assertion fails, even with `at_most_percent`. A
failure shows the chart, and those causes of `timeline:causes` whose end would gain most.]],
            example = [[
local t, a = lab.tap(), lab.stream{ name = "a" }
local x = lab.empty(1024, 1024, { device = "cpu", pinned = true })
local tl = lab.profile(function()
    lab.spin(1, { stream = a })
    x:cuda{ non_blocking = true, stream = lab.stream() }
end)
t:overlap(tl, a, "memcpy_h2d", { at_least_percent = 90 }, "copies beside")  --> ok 1 - copies beside]],
            see = { "timeline:overlap_us", "timeline:causes", "tap:makespan" },
        },
        {
            name = "tap:makespan",
            brief = "asserts that all work was done within a certain time",
            arguments = {
                tl, { "limits", "table", "`{ within_percent = }` says by how much it may be longer than `of_us`; `gpu_within_percent`" }, made,
            },
            returns = passed,
            errors = { recording },
            about = [[
The default of `of_us` is the `busiest_engine_us` of `tl:bounds()`: no schedule of the same work takes less, if its
kernels fill the GPU. The default is not `lower_us`, because that is the makespan itself if the program did one thing
after the other. For a bound that programs can reach, record a good program in the test and give its `makespan_us`. If
nothing ran, the assertion fails.]],
            example = [[
local t = lab.tap()
local tl = lab.profile(function() lab.spin(1) lab.spin(1) end)
t:makespan(tl, { within_percent = 5 })  --> ok 1 - the makespan is within 5 % of what the busiest engine works]],
            see = { "timeline:bounds", "timeline.makespan_us", "tap:overlap" },
        },
        {
            name = "tap:stream_count",
            brief = "asserts in how many streams work ran",
            arguments = { tl, counts, made },
            returns = passed,
            errors = { recording },
            example = [[
local t = lab.tap()
local tl = lab.profile(lab.spin, 1)
t:stream_count(tl, { exactly = 1 })  --> ok 1 - exactly 1 stream with work]],
            see = { "timeline.stream_count", "tap:span_count" },
        },
        {
            name = "tap:span_count",
            brief = "asserts how many operations of a selection there were",
            arguments = { tl, { "selection", "stream|string|table", "as for `tl:busy_us`" }, counts, made },
            returns = passed,
            errors = { recording },
            example = [[
local t = lab.tap()
local tl = lab.profile(lab.spin, 1)
t:span_count(tl, "kernel", { at_most = 2 })  --> ok 1 - at most 2 operations of kernel]],
            see = { "timeline:spans", "tap:call_count" },
        },
        {
            name = "tap:call_count",
            brief = "asserts how often the host called a function of CUDA",
            arguments = { tl, { "call", "string", "its name, as in `tl:calls()` and in the field `call` of `tl:spans()`" }, counts, made },
            returns = passed,
            errors = { recording, { "SL_EINVAL", "no call is recorded under that name" } },
            about = [[
It counts all recorded calls, whether they enqueue operations or not, except the `cudaDeviceSynchronize` with which
`tl:stop()` ends the recording. A `copy_` that blocks is two calls: the copy, and a `cudaStreamSynchronize`.]],
            example = [[
local t, e = lab.tap(), lab.event()
local tl = lab.profile(function() e:record() e:record() end)
t:call_count(tl, "cudaEventRecord", { exactly = 2 })  --> ok 1 - exactly 2 calls of cudaEventRecord]],
            see = { "timeline:calls", "tap:no_call" },
        },
        {
            name = "tap:no_call",
            brief = "asserts that the host did not call a function of CUDA",
            arguments = { tl, { "call", "string", "its name, as for `tap:call_count`" }, made },
            returns = passed,
            errors = { recording, { "SL_EINVAL", "no call is recorded under that name" } },
            about = [[A failure says where the calls were.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local t = lab.tap()
local tl = lab.profile(load("lab.spin(1) lab.synchronize()", "@step.lua"))
t:no_call(tl, "cudaDeviceSynchronize", "the host never waits")
--> not ok 1 - the host never waits
--> #   seen   1 call
--> #   asked  none
--> #   look   step.lua:1: cudaDeviceSynchronize at 3.80 us, for 1.00 ms]],
            see = { "timeline:calls", "tap:call_count", "tap:host_block" },
        },
        {
            name = "tap:host_block",
            brief = "asserts that no call held the host longer than a certain time",
            arguments = {
                tl, { "limits", "table", "`{ at_most_us = }`, or `{ at_most_percent = }` of the makespan; `gpu_at_most_percent`" }, made,
            },
            returns = passed,
            errors = { recording },
            about = [[
It looks at each call separately, also at calls that enqueue operations: a copy from pageable memory, the first use of a
kernel, a launch that waits for room in the queue. `lab.host_work` does not count, nor does what the host computes
itself, nor the wait of `tl:stop()`. If both limits are given, the shorter one applies.]],
            example = [[
local t = lab.tap()
local tl = lab.profile(lab.spin, 5)
t:host_block(tl, { at_most_us = 50 })  --> ok 1 - no call holds the host longer than 50.0 us]],
            see = { "timeline:calls", "lab.probe" },
        },
        {
            name = "tap:no_race",
            brief = "asserts that no race was found",
            arguments = {
                { "which", "table", "`{ accidents = true }`: also no accident", default = "races alone" }, made,
            },
            returns = passed,
            errors = { { "SL_ESTATE", "the race checker is off, and has found no race" } },
            about = [[
It looks at the races that `lab.races()` lists. Turn the checker on before the work in question: `lab.check("warn")`, or
`streamlab --check`.]],
            example = [[
local t = lab.tap()
lab.check("warn")
local x = lab.ones(4)
x:fill_(2)
t:no_race()  --> ok 1 - no race]],
            see = { "lab.races", "lab.check" },
        },
        {
            name = "tap:skip",
            brief = "counts an assertion that cannot be made as passed, and says why",
            arguments = { { "why", "string", "the reason" }, { "name", "string", "what would be asserted", default = [["skipped"]] } },
            returns = { { "boolean", "true" } },
            example = [[
local t = lab.tap()
t:skip("there is one GPU", "both GPUs work")  --> ok 1 - both GPUs work # SKIP there is one GPU]],
            see = { "tap:ok" },
        },
        {
            name = "tap:diag",
            brief = "prints a remark",
            arguments = { { "text", "string", "one line or several" } },
            example = [[
local t = lab.tap()
t:diag("on " .. lab.device().backend)  --> # on sim]],
            see = { "tap:done" },
        },
        {
            name = "tap:done",
            brief = "ends the test and prints its plan",
            returns = { { "boolean", "whether all assertions passed, and were as many as planned" } },
            errors = { { "SL_ESTATE", "it was called before" } },
            about = [[
The process goes on. To give an exit status that says whether all assertions passed, end the script with
`os.exit(t:done())`. A script that ends with an error prints no plan, and `prove` then reports a failure.]],
            example = [[
local t = lab.tap{ plan = 2 }
t:ok(true, "one of two")  --> ok 1 - one of two
print(t:done())
--> 1..2
--> # planned 2 assertions, but there were 1
--> false]],
            see = { "lab.tap" },
        },
    },
}
