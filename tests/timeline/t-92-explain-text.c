/* t-92-explain-text.c - explanations word for word. */
#include "causes.h"

#include "../../core/text/labels.h"
#include "../../core/timeline/operand.h"
#include "../../core/timeline/tell.h"

/* One that the laboratory recorded: remedies speak Lua. */
static sl_timeline *recorded(void)
{
    sl_timeline *tl = make();
    sl_device_info info = { .backend = "sim" };
    sl_timeline_set_device(tl, &info);
    return tl;
}

/* ---- labels --------------------------------------------------------------------- */

static const char *label(const char *text, int columns)
{
    static char kept[1024];
    sl_text out = { 0 };
    sl_label_clip(&out, text, columns);
    snprintf(kept, sizeof kept, "%s", out.data ? out.data : "");
    sl_text_free(&out);
    return kept;
}

static void test_labels(void)
{
    is_str(label("matmul_f32", 12), "matmul_f32", "a short name stands as it is");
    is_str(label("", 12), "", "so does none");
    is_str(label("abcdefghijklmnop", 12), "abcdef...nop", "the middle of a long one is left out");
    is_str(label("abcdefghijkl", 12), "abcdefghijkl", "one that just fits is not shortened");
    is_str(label("a\tb\x1b[31mc\n", 20), "a?b?[31mc?", "control characters become ?");
    is_str(label("a\xff\xc3", 20), "a??", "so does what is no UTF-8");
    is_str(label("\xc3\xa4\xc3\xb6\xc3\xbc", 8), "\xc3\xa4\xc3\xb6\xc3\xbc", "what is UTF-8 stays");
    is_str(label("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 8),
           "\xe6\x97\xa5\xe6\x97\xa5...", "wide characters are counted as two columns");
}

/* ---- the variable in a line of the script ------------------------------------------- */

static const char *operand(const char *line, bool written)
{
    static char kept[64];
    const char *name = NULL;
    int n = sl__find_operand(line, written, &name);
    snprintf(kept, sizeof kept, "%.*s", n, n > 0 ? name : "");
    return kept;
}

static const struct { const char *line, *read, *written; } lines[] = {
    { "data_on_cpu[i]:to(\"cuda\", {non_blocking = true})", "data_on_cpu", "" },
    { "local y <const> = x:cuda()", "x", "" },
    { "y=x:to('cuda')", "x", "" },
    { "return self.weights[k][j + 1]:cpu()", "self.weights", "" },
    { "t[index[i]]:to \"cuda\"", "t", "" },
    { "x : to(\"cuda\")", "", "" },                     /* rare: better nothing */
    { "dst:copy_(src, {non_blocking = true})", "src", "dst" },
    { "on_gpu[i]:copy_( on_cpu[i] )", "on_cpu", "on_gpu" },
    { "dst:copy_(f(src))", "", "dst" },
    { "dst:copy_(a + b)", "", "dst" },
    { "dst:copy_{src}", "", "dst" },
    { "f(x):to(\"cuda\")", "", "" },
    { "lab.rand(4, 4):cuda()", "", "" },
    { "(a + b):cpu()", "", "" },
    { "(\"x\"):to(\"cpu\")", "", "" },
    { "a:to(\"cuda\") b:to(\"cuda\")", "", "" },        /* two calls: which of them? */
    { "x:to(\"cuda\"):cpu()", "", "" },
    { "dst:copy_(src:cpu())", "", "" },
    { "print(x:cpu())", "x", "" },
    { "local t = {x:cpu(), 1}", "x", "" },
    { "f(1, x:cpu())", "x", "" },
    { "x:cpu() -- y:cpu()", "x", "" },
    { "-- x:cpu()", "", "" },
    { "print(\"x:cpu()\")", "", "" },
    { "print(\"it's \\\" x:cpu()\") y:cpu()", "y", "" },
    { "log('a') x:cpu()", "x", "" },
    { "\"unfinished x:cpu()", "", "" },
    { "s = [[ x:cpu() ]]", "", "" },
    { "x:to_host()", "", "" },
    { "x.to(\"cuda\")", "", "" },
    { "::to::", "", "" },
    { "nil:to(\"cuda\")", "", "" },
    { "2:to(\"cuda\")", "", "" },
    { "a..b:cpu()", "", "" },
    { ":to(", "", "" },
    { "x]:to(", "", "" },
    { "x[:to(", "", "" },
    { "x:", "", "" },
    { "y:copy_(", "", "y" },
    { "", "", "" },
    { "a_name_of_more_than_forty_eight_characters_is_not_told:cpu()", "", "" },
};

static void test_operands(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool good = strcmp(operand(lines[i].line, false), lines[i].read) == 0;
        good = good && strcmp(operand(lines[i].line, true), lines[i].written) == 0;
        if (!good)
            diag("read '%s', written '%s'", operand(lines[i].line, false),
                 operand(lines[i].line, true));
        ok(good, "in the line '%s'", lines[i].line);
    }
    char longest[5000];
    memset(longest, ' ', sizeof longest);
    memcpy(longest + sizeof longest - 12, "x:to('cuda')", 12);
    longest[sizeof longest - 1] = '\0';
    is_str(operand(longest, false), "", "a very long line tells nothing");
}

/* ---- sentences -------------------------------------------------------------------------- */

enum { KERNEL = 1, H2D, D2H, SYNC_COPY, HOST_FUNC, FREE, MALLOC, SYNC, STREAM_SYNC, EVENT_SYNC,
       WORK, COPY_OUT, MYSTERY };

static sl_timeline *make_story(void)
{
    sl_timeline *tl = recorded();
    sl_error err;
    note(tl, 1, "first", false);
    note(tl, 2, "stream 2", false);
    const struct { sl_span_kind kind; uint32_t stream; unsigned flags; const char *name; } ops[] = {
        { SL_SPAN_KERNEL, 1, 0, "matmul_f32" },
        { SL_SPAN_MEMCPY_H2D, 2, SL_SPAN_SRC_PAGEABLE, "Memcpy HtoD" },
        { SL_SPAN_MEMCPY_D2H, 0, SL_SPAN_DST_PAGEABLE | SL_SPAN_HOST_WAITED, "Memcpy DtoH" },
        { SL_SPAN_MEMCPY_H2D, 5, SL_SPAN_SRC_PINNED | SL_SPAN_HOST_WAITED, "Memcpy HtoD" },
        { SL_SPAN_HOST_FUNC, 1, 0, "host_func" },
    };
    char where[16];
    for (int i = 0; i < 5; i++) {
        sl_span s = op(tl, ops[i].kind, ops[i].stream, ops[i].name, AT(0, 4), AT(10, 20));
        s.flags = (uint8_t)ops[i].flags;
        snprintf(where, sizeof where, "a.lua:%d", i + 1);
        s.where = text_id(tl, where);
        add(tl, s);
    }
    const struct { sl_call_kind kind; int waited; const char *name; } calls[] = {
        { SL_CALL_PLAIN, 1, "cudaFree" }, { SL_CALL_PLAIN, 0, "cudaMalloc" },
        { SL_CALL_DEVICE_SYNC, 0, "" }, { SL_CALL_STREAM_SYNC, 0, "" },
        { SL_CALL_EVENT_SYNC, 0, "" }, { SL_CALL_HOST_WORK, 0, "" },
    };
    for (int i = 0; i < 6; i++) {
        snprintf(where, sizeof where, "a.lua:%d", i + 6);
        add_call(tl, (sl_call){ .kind = (uint8_t)calls[i].kind, .where = text_id(tl, where),
                                .waited_for_device = (uint8_t)calls[i].waited,
                                .name = text_id(tl, calls[i].name) }, AT(30, 40));
    }
    sl_span out = op(tl, SL_SPAN_MEMCPY_D2H, 1, "Memcpy DtoH", AT(40, 44), AT(50, 60));
    out.flags = SL_SPAN_DST_PAGEABLE;
    out.where = text_id(tl, "a.lua:12");
    add(tl, out);
    run(tl, SL_SPAN_KERNEL, 7, "", AT(50, 54), AT(60, 70));     /* no name, no line, no note */
    finish(tl);
    must(sl_timeline_set_source(tl, text_id(tl, "a.lua:2"), "x = data_on_cpu:cuda()", &err), &err);
    must(sl_timeline_set_source(tl, text_id(tl, "a.lua:3"), "y = result:cpu()", &err), &err);
    must(sl_timeline_set_source(tl, text_id(tl, "a.lua:12"), "host:copy_(result)", &err), &err);
    return tl;
}

static const struct story {
    sl_cause cause;
    bool idle;
    uint64_t waiter, by;
    const char *sentence, *remedy;
} stories[] = {
    { SL_CAUSE_STREAM_ORDER, true, KERNEL, H2D,
      "No kernel ran for 3.00 ms: matmul_f32 in stream \"first\" at a.lua:1 waited for Memcpy HtoD "
      "in stream 2 at a.lua:2, which comes before it in its stream",
      "In one stream nothing runs beside a copy or a memset: put work that does not depend on the "
      "other into another stream, or cut both into pieces that take turns" },
    { SL_CAUSE_STREAM_ORDER, true, KERNEL, MYSTERY,
      "No kernel ran for 3.00 ms: matmul_f32 in stream \"first\" at a.lua:1 waited for kernel in "
      "stream 7, which comes before it in its stream",
      "One stream runs one thing at a time, unless a launch asks for an early start (compute "
      "capability 9.0 on): put work that does not depend on the other into another stream, or cut "
      "both into pieces that take turns" },
    { SL_CAUSE_EVENT, true, KERNEL, H2D,
      "No kernel ran for 3.00 ms: matmul_f32 in stream \"first\" at a.lua:1 waited for an event "
      "that "
      "was recorded behind Memcpy HtoD in stream 2 at a.lua:2",
      "Record the event directly after the one operation whose result is used; if none is used, "
      "do without the wait" },
    { SL_CAUSE_NULL_STREAM, false, KERNEL, D2H,
      "matmul_f32 in stream \"first\" at a.lua:1 waited 3.00 ms for Memcpy DtoH in the default "
      "stream "
      "at a.lua:3: work in the default stream and work in blocking streams wait for each other",
      "Keep work out of the default stream: lab.with(stream, ...); or give the stream non_blocking "
      "= true, and wait where an order is needed" },
    { SL_CAUSE_CHANNEL, false, KERNEL, MYSTERY,
      "matmul_f32 in stream \"first\" at a.lua:1 waited 3.00 ms for kernel in stream 7, whose "
      "stream "
      "shares a hardware channel with its own",
      "Use fewer streams, or more channels: CUDA_DEVICE_MAX_CONNECTIONS, from 8 up to 32, set "
      "before "
      "the program starts" },
    { SL_CAUSE_ENGINE, false, H2D, SYNC_COPY,
      "Memcpy HtoD in stream 2 at a.lua:2 waited 3.00 ms for Memcpy HtoD in stream 5 at a.lua:4: a "
      "copy engine does one copy at a time",
      "Issue first the copy that other work waits for; all of them end sooner only with fewer "
      "bytes" },
    { SL_CAUSE_ENGINE, true, KERNEL, HOST_FUNC,
      "No kernel ran for 3.00 ms: matmul_f32 in stream \"first\" at a.lua:1 waited for host_func "
      "in "
      "stream \"first\" at a.lua:5: one thread runs all host functions, one after the other",
      "Keep host functions short, and have few of them" },
    { SL_CAUSE_ROOM, false, KERNEL, MYSTERY,
      "matmul_f32 in stream \"first\" at a.lua:1 waited 3.00 ms for kernel in stream 7, which "
      "left no "
      "room on the SMs",
      "A kernel that fills the GPU runs alone: only smaller grids overlap, and a higher priority "
      "lets "
      "a stream go first" },
    { SL_CAUSE_ROOM, false, KERNEL, 0,
      "matmul_f32 in stream \"first\" at a.lua:1 waited 3.00 ms for other work, which left no "
      "room on "
      "the SMs",
      "A kernel that fills the GPU runs alone: only smaller grids overlap, and a higher priority "
      "lets "
      "a stream go first" },
    { SL_CAUSE_PRIORITY, false, KERNEL, MYSTERY,
      "matmul_f32 in stream \"first\" at a.lua:1 waited 3.00 ms for kernel in stream 7, which came "
      "later but whose stream has the higher priority",
      "That is what the priority asks for; give both streams the same to have them in order of "
      "arrival" },
    { SL_CAUSE_QUEUE_FULL, true, H2D, KERNEL,
      "No H2D copy ran for 3.00 ms: the host waited for room in the launch queue to issue "
      "matmul_f32 "
      "in stream \"first\" at a.lua:1, and Memcpy HtoD in stream 2 at a.lua:2 came after that",
      "Issue fewer and larger operations, or the other streams' work before this stream's queue "
      "is full; CUDA_SCALE_LAUNCH_QUEUES=4x in the environment makes the queue longer (CUDA 12 "
      "and later)" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, H2D,
      "No kernel ran for 3.00 ms: the host was blocked in Memcpy HtoD at a.lua:2: the CPU copies "
      "pageable memory into the driver's buffers itself, so the call returns only near its end",
      "Pin `data_on_cpu` (t:pin_memory(), or pinned = true): H2D from pageable memory blocks the "
      "host "
      "41.0 ms" },
    { SL_CAUSE_HOST_BLOCKED, true, H2D, D2H,
      "No H2D copy ran for 3.00 ms: the host was blocked in Memcpy DtoH at a.lua:3: a copy to "
      "pageable "
      "memory returns when the data has arrived",
      "Copy `result` into pinned memory: t:to(\"cpu\", {non_blocking = true}) does, or copy_ "
      "into a "
      "pinned tensor, and wait for the copy before you read it; D2H to pageable memory blocks the "
      "host 41.0 ms" },
    { SL_CAUSE_HOST_BLOCKED, true, H2D, COPY_OUT,
      "No H2D copy ran for 3.00 ms: the host was blocked in Memcpy DtoH at a.lua:12: a copy to "
      "pageable memory returns when the data has arrived",
      "Pin `host` (pinned = true, or t:pin()) and copy with non_blocking = true, and "
      "wait for the copy before you read it; D2H to pageable "
      "memory blocks the host 41.0 ms" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, SYNC_COPY,
      "No kernel ran for 3.00 ms: the host was blocked in Memcpy HtoD at a.lua:4: the call returns "
      "when the copy has ended",
      "Give the copy non_blocking = true and wait for it where its result is needed" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, FREE,
      "No kernel ran for 3.00 ms: the host was blocked in cudaFree at a.lua:6, which waits for all "
      "work of the device",
      "Allocate before and free after the part that counts, or use the stream-ordered malloc_async "
      "and free_async" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, MALLOC,
      "No kernel ran for 3.00 ms: the host was busy in cudaMalloc at a.lua:7",
      "Call it before the part that counts" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, SYNC,
      "No kernel ran for 3.00 ms: the host was blocked in cudaDeviceSynchronize at a.lua:8, which "
      "waits for all work of the device",
      "Issue what is to run next before the host waits; for order on the device s:wait_event(e) "
      "does "
      "not hold the host" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, STREAM_SYNC,
      "No kernel ran for 3.00 ms: the host was blocked in cudaStreamSynchronize at a.lua:9, which "
      "waits for all that the stream holds",
      "Issue what is to run next before the host waits; for order on the device s:wait_event(e) "
      "does "
      "not hold the host" },
    { SL_CAUSE_HOST_BLOCKED, true, KERNEL, EVENT_SYNC,
      "No kernel ran for 3.00 ms: the host was blocked in cudaEventSynchronize at a.lua:10, which "
      "waits for the event",
      "Issue what is to run next before the host waits; for order on the device s:wait_event(e) "
      "does "
      "not hold the host" },
    { SL_CAUSE_HOST_WORK, true, KERNEL, WORK,
      "No kernel ran for 3.00 ms: the host was busy in lab.host_work at a.lua:11",
      "Issue the GPU's work first, and let the host work while it runs" },
    { SL_CAUSE_HOST_WORK, true, KERNEL, H2D,
      "No kernel ran for 3.00 ms: the host did something other than issuing work, after the call "
      "at "
      "a.lua:2",
      "Issue the GPU's work first, and let the host work while it runs" },
    { SL_CAUSE_HOST_WORK, true, KERNEL, 0,
      "No kernel ran for 3.00 ms: the host did something other than issuing work",
      "Issue the GPU's work first, and let the host work while it runs" },
    { SL_CAUSE_HOST_ISSUING, true, H2D, KERNEL,
      "No H2D copy ran for 3.00 ms: the host was still issuing matmul_f32 in stream \"first\" at "
      "a.lua:1, and Memcpy HtoD in stream 2 at a.lua:2 came after that",
      "Issue the two alternately, or first the one that came too late" },
    { SL_CAUSE_HOST_ISSUING, true, KERNEL, KERNEL,
      "No kernel ran for 3.00 ms: the host was still issuing matmul_f32 in stream \"first\" at "
      "a.lua:1, and the GPU had to wait for that",
      "The GPU waits for launches: fewer and larger operations keep it busy" },
    { SL_CAUSE_LATENCY, true, KERNEL, 0,
      "No kernel ran for 3.00 ms: the usual gap until matmul_f32 in stream \"first\" at a.lua:1 "
      "starts",
      "Each operation costs its start-up: make fewer and larger ones" },
    { SL_CAUSE_UNKNOWN, true, KERNEL, 0,
      "No kernel ran for 3.00 ms: matmul_f32 in stream \"first\" at a.lua:1 waited for something "
      "that "
      "the records do not tell",
      "" },
    { SL_CAUSE_UNKNOWN, true, KERNEL, H2D,
      "No kernel ran for 3.00 ms: matmul_f32 in stream \"first\" at a.lua:1 waited for something "
      "that "
      "the records do not tell, perhaps Memcpy HtoD in stream 2 at a.lua:2",
      "" },
    { SL_CAUSE_EVENT, true, 999, 998,           /* neither is there */
      "No kernel ran for 3.00 ms: an operation waited for an event that was recorded behind other "
      "work",
      "Record the event directly after the one operation whose result is used; if none is used, "
      "do without the wait" },
};
#define STORIES (sizeof stories / sizeof *stories)

static void test_sentences(void)
{
    sl_timeline *tl = make_story();
    for (size_t i = 0; i < STORIES; i++) {
        const sl_span *waiter = sl_timeline_find_span(tl, stories[i].waiter);
        sl_finding f = { .cause = stories[i].cause, .idle = stories[i].idle, .n_waits = 1,
                         .engine = waiter ? (sl_engine)waiter->engine : SL_ENGINE_COMPUTE,
                         .waiter = stories[i].waiter, .by = stories[i].by, .lost_ns = 3000000,
                         .by_host_ns = 41000000 };
        sl_text sentence = { 0 }, remedy = { 0 };
        sl_finding_tell(tl, &f, &sentence, &remedy);
        is_str(sentence.data, stories[i].sentence, "%s by %d is told", sl_cause_name(f.cause),
               (int)f.by);
        is_str(remedy.data ? remedy.data : "", stories[i].remedy, "and what helps");
        sl_text_free(&sentence);
        sl_text_free(&remedy);
    }
    sl_finding f = { .cause = SL_CAUSE_STREAM_ORDER, .idle = true, .n_waits = 7, .waiter = KERNEL,
                     .by = H2D, .lost_ns = 3000 };
    sl_text sentence = { 0 }, remedy = { 0 };
    sl_finding_tell(tl, &f, &sentence, &remedy);
    is_str(sentence.data, "No kernel ran for 3.00 us: matmul_f32 in stream \"first\" at a.lua:1 "
           "waited "
           "(7 times) for Memcpy HtoD in stream 2 at a.lua:2, which comes before it in its stream",
           "several waits are counted");
    sl_text_free(&sentence);
    sl_text_free(&remedy);
    sl_timeline_release(tl);
}

/* ---- all of it --------------------------------------------------------------------------- */

static char *explained(const sl_timeline *tl, int columns)
{
    sl_text text = { 0 };
    sl_error err;
    must(sl_timeline_explain(tl, columns, true, &text, &err), &err);
    return text.data;
}

static void test_empty(void)
{
    sl_timeline *tl = recorded();
    finish(tl);
    char *text = explained(tl, 80);
    is_str(text, "The timeline is empty: nothing ran on the device, so nothing waited.\n",
           "an empty timeline says so");
    free(text);
    sl_timeline_release(tl);
    tl = recorded();
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(0, 4), AT(7, 17));
    finish(tl);
    text = explained(tl, 0);
    is_str(text, "Nothing to gain: no wait made the makespan of 10.0 us longer.\n"
                 "Critical path: where the total time went, from the last operation backwards\n"
                 "  10.0 us  k in stream 1 running\n",
           "one operation loses nothing");
    free(text);
    sl_timeline_release(tl);
}

/* A copy from pageable memory holds the host 100, and with it the D2H copy and the kernel of
 * other streams. */
static sl_timeline *make_page(void)
{
    sl_timeline *tl = recorded();
    sl_error err;
    note(tl, 1, "copies", false);
    const char *const names[] = { "Memcpy HtoD (Pageable -> Device)", "gemm",
                                  "Memcpy DtoH (Device -> Pinned)" };
    sl_span s = op(tl, SL_SPAN_MEMCPY_H2D, 1, names[0], AT(0, 100), AT(5, 104));
    s.flags = SL_SPAN_SRC_PAGEABLE;
    s.where = text_id(tl, "page.lua:3");
    add(tl, s);
    s = op(tl, SL_SPAN_KERNEL, 2, names[1], AT(100, 104), AT(107, 157));
    s.where = text_id(tl, "page.lua:4");
    add(tl, s);
    s = op(tl, SL_SPAN_MEMCPY_D2H, 3, names[2], AT(104, 106), AT(109, 119));
    s.where = text_id(tl, "page.lua:5");
    add(tl, s);
    finish(tl);
    uint32_t where = text_id(tl, "page.lua:3");
    must(sl_timeline_set_source(tl, where, "x = data_on_cpu:cuda()", &err), &err);
    return tl;
}

static void test_page(void)
{
    sl_timeline *tl = make_page();
    char *wide = explained(tl, 80), *narrow = explained(tl, 40);
    is_str(wide,
           "To gain: at most 53.0 us of 152 us (1.54 x): the host is blocked in Memcpy HtoD\n"
           "(Pageable -> Device) at page.lua:3.\n"
           "Critical path: where the total time went, from the last operation backwards\n"
           "  98.0 us  the host blocked in Memcpy HtoD (Pageable -> Device) in stream\n"
           "           \"copies\" at page.lua:3\n"
           "  50.0 us  gemm in stream 2 at page.lua:4 running\n"
           "  4.00 us  the host issuing gemm in stream 2 at page.lua:4\n"
           "Where time was lost (inferred from the records)\n"
           " 1. 53.0 us to gain: No kernel ran for 98.0 us: the host was blocked in Memcpy\n"
           "    HtoD (Pageable -> Device) at page.lua:3: the CPU copies pageable memory into\n"
           "    the driver's buffers itself, so the call returns only near its end\n"
           "    | x = data_on_cpu:cuda()\n"
           "    The D2H engine was idle 98.0 us for the same reason\n"
           "    -> Pin `data_on_cpu` (t:pin_memory(), or pinned = true): H2D from pageable\n"
           "       memory blocks the host 100 us\n"
           " 2. 4.00 us to gain: No kernel ran for 4.00 us: the host was still issuing gemm\n"
           "    in stream 2 at page.lua:4, and the GPU had to wait for that\n"
           "    The D2H engine was idle 4.00 us for the same reason\n"
           "    -> The GPU waits for launches: fewer and larger operations keep it busy\n"
           " 3. Nothing to gain: No D2H copy ran for 2.00 us: the host was still issuing\n"
           "    Memcpy DtoH (Device -> Pinned) in stream 3 at page.lua:5, and the GPU had to\n"
           "    wait for that\n"
           "    -> The GPU waits for launches: fewer and larger operations keep it busy\n",
           "a whole explanation at 80 columns");
    is_str(narrow,
           "To gain: at most 53.0 us of 152 us\n"
           "(1.54 x): the host is blocked in Memcpy\n"
           "HtoD (Pageable -> Device) at page.lua:3.\n"
           "Critical path: where the total time\n"
           "went, from the last operation backwards\n"
           "  98.0 us  the host blocked in Memcpy\n"
           "           HtoD (Pageable -> Device) in\n"
           "           stream \"copies\" at page.lua:3\n"
           "  50.0 us  gemm in stream 2 at\n"
           "           page.lua:4 running\n"
           "  4.00 us  the host issuing gemm in\n"
           "           stream 2 at page.lua:4\n"
           "Where time was lost (inferred from the\n"
           "records)\n"
           " 1. 53.0 us to gain: No kernel ran for\n"
           "    98.0 us: the host was blocked in\n"
           "    Memcpy HtoD (Pageable -> Device) at\n"
           "    page.lua:3: the CPU copies pageable\n"
           "    memory into the driver's buffers\n"
           "    itself, so the call returns only\n"
           "    near its end\n"
           "    | x = data_on_cpu:cuda()\n"
           "    The D2H engine was idle 98.0 us for\n"
           "    the same reason\n"
           "    -> Pin `data_on_cpu`\n"
           "       (t:pin_memory(), or pinned =\n"
           "       true): H2D from pageable memory\n"
           "       blocks the host 100 us\n"
           " 2. 4.00 us to gain: No kernel ran for\n"
           "    4.00 us: the host was still issuing\n"
           "    gemm in stream 2 at page.lua:4, and\n"
           "    the GPU had to wait for that\n"
           "    The D2H engine was idle 4.00 us for\n"
           "    the same reason\n"
           "    -> The GPU waits for launches: fewer\n"
           "       and larger operations keep it\n"
           "       busy\n"
           " 3. Nothing to gain: No D2H copy ran for\n"
           "    2.00 us: the host was still issuing\n"
           "    Memcpy DtoH (Device -> Pinned) in\n"
           "    stream 3 at page.lua:5, and the GPU\n"
           "    had to wait for that\n"
           "    -> The GPU waits for launches: fewer\n"
           "       and larger operations keep it\n"
           "       busy\n",
           "and at 40");
    free(wide);
    free(narrow);
    sl_timeline_release(tl);
}

static int longest_line(const char *text)
{
    int longest = 0;
    while (*text) {
        size_t n = strcspn(text, "\n");
        char *line = strndup(text, n);
        int columns = sl_label_columns(line, true);
        free(line);
        longest = columns > longest ? columns : longest;
        text += n + (text[n] == '\n');
    }
    return longest;
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if (((unsigned char)*text < 0x20 && *text != '\n') || (unsigned char)*text == 0x7F)
            return false;
    }
    return true;
}

/* Names as templates make them, and as nobody should. */
static void test_names(void)
{
    static const int widths[] = { 80, 40, 24, 10, 1 };
    char gemm[400];
    memset(gemm, 'x', sizeof gemm);
    memcpy(gemm, "cutlass::Kernel2<cutlass_80_tensorop_", 37);
    snprintf(gemm + 300, 100, "Epilogue>");
    sl_timeline *tl = recorded();
    sl_error err;
    note(tl, 1, "a\x1b[2Jstream\nof \xff\xfe names that goes on and on and on and on", false);
    sl_span s = op(tl, SL_SPAN_MEMCPY_H2D, 1, "\x01\x02\x03", AT(0, 2), AT(5, 105));
    s.where = text_id(tl, "a/very/long/path/that/somebody/gave/to/a/script/of/theirs.lua:100");
    add(tl, s);
    run(tl, SL_SPAN_KERNEL, 1, gemm, AT(2, 6), AT(105, 155));
    finish(tl);
    must(sl_timeline_set_source(tl, s.where, "x:cuda()\x1b[31m --\t\xff and a comment that has "
           "far more "
                                "to say than would fit into one line of a terminal", &err), &err);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *text = explained(tl, widths[i]);
        int most = widths[i] < 24 ? 24 : widths[i];
        ok(longest_line(text) <= most && is_printable(text), "odd names in %d columns", widths[i]);
        free(text);
    }
    char *text = explained(tl, 80);
    ok(strstr(text, "Kernel2<cutlass_80_tens") != NULL,
       "a kernel's long name loses its middle");
    free(text);
    sl_timeline_release(tl);
}

/* 1 us of 1001 us: less than is worth telling. */
static void test_hardly(void)
{
    sl_timeline *tl = recorded();
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(0, 4), AT(5, 505));
    run(tl, SL_SPAN_KERNEL, 1, "k", AT(4, 8), AT(506, 1006));
    finish(tl);
    char *text = explained(tl, 80);
    is_str(text, "Nothing to gain: no wait made the makespan of 1.00 ms longer.\n"
                 "Critical path: where the total time went, from the last operation backwards\n"
                 "  1.00 ms  k in stream 1 running\n"
                 "  1.00 us  launch latency between operations\n"
                 "Where time was lost (inferred from the records)\n"
                 "    1 loss, 1.00 us in total\n", "what is less than 2 in 1000 is only added up");
    free(text);
    sl_timeline_release(tl);
}

/* ---- traces of others: no Lua in their remedies ---------------------------------------- */

/* What is said of the timeline's finding; the sentence and the remedy are kept. */
static char sentence_of[512], remedy_of[512], clause_of[512];

static void tell_of(const sl_timeline *tl, sl_finding f)
{
    sl_text sentence = { 0 }, remedy = { 0 }, clause = { 0 };
    f.idle = true;
    f.lost_ns = f.by_host_ns = 96000;
    sl_finding_tell(tl, &f, &sentence, &remedy);
    sl__sides sides = sl__look_up(tl, &f);
    sl__put_cause(&sides, &clause);
    snprintf(clause_of, sizeof clause_of, "%s", clause.data);
    sl_text_free(&clause);
    snprintf(sentence_of, sizeof sentence_of, "%s", sentence.data);
    snprintf(remedy_of, sizeof remedy_of, "%s", remedy.data ? remedy.data : "");
    sl_text_free(&sentence);
    sl_text_free(&remedy);
}

/* One operation of each side stands for several. */
static void test_many(void)
{
    static const struct {
        sl_cause cause;
        bool waiters, by;
        const char *sentence, *clause;
    } cases[] = {
        { SL_CAUSE_STREAM_ORDER, false, true,
          "No kernel ran for 96.0 us: K in stream 7 waited (2 times) for up in stream 7 and other "
          "operations, which come before it in its stream",
          "K in stream 7 waits for up in stream 7 and other operations, which come before it in "
          "its stream (2 times)" },
        { SL_CAUSE_STREAM_ORDER, true, false,
          "No kernel ran for 96.0 us: K in stream 7 and other operations waited (2 times) for up "
          "in stream 7, which comes before them in their stream",
          "K in stream 7 and other operations wait for up in stream 7, which comes before them in "
          "their stream (2 times)" },
        { SL_CAUSE_ENGINE, true, true,
          "No kernel ran for 96.0 us: K in stream 7 and other operations waited (2 times) for up "
          "in stream 7 and other operations: a copy engine does one copy at a time",
          "K in stream 7 and other operations wait for up in stream 7 and other operations, which "
          "keep the engine busy (2 times)" },
        { SL_CAUSE_LATENCY, true, false,
          "No kernel ran for 96.0 us (2 times): the usual gap until K in stream 7 and other "
          "operations start", "launch latency between operations (2 gaps)" },
    };
    sl_timeline *tl = make();
    run(tl, SL_SPAN_MEMCPY_H2D, 7, "up", AT(0, 5), AT(10, 60));
    run(tl, SL_SPAN_KERNEL, 7, "K", AT(5, 10), AT(60, 80));
    sl_error err;
    sl_call plain = { .correlation = 3, .kind = SL_CALL_PLAIN };
    must(sl_timeline_add_call(tl, &plain, &err), &err);
    finish(tl);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tell_of(tl, (sl_finding){ .cause = cases[i].cause, .waiter = 2, .by = 1, .n_waits = 2,
                                  .many_waiters = cases[i].waiters, .many_by = cases[i].by });
        is_str(sentence_of, cases[i].sentence, "others are other operations (%zu)", i + 1);
        is_str(clause_of, cases[i].clause, "also in a clause");
    }
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .waiter = 1, .by = 2 });
    is_str(clause_of, "the host is blocked in the launch of K",
           "a kernel is no call: its launch is");
    ok(strstr(sentence_of, ": the host was blocked in the launch of K: its call took that long, "),
       "in a sentence, too: %s", sentence_of);
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .waiter = 1, .by = 3 });
    is_str(remedy_of, "Call it before the part that counts", "of a call that came once");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .waiter = 1, .by = 3, .n_waits = 2 });
    is_str(remedy_of, "Call it less often, or before the part that counts", "and of one that came "
           "again");
    sl_timeline_release(tl);
}

static void name_stream(sl_timeline *tl, uint32_t id, const char *name)
{
    sl_error err;
    sl_stream_note note = { .id = id, .numbered = true, .number = id + 7 };
    must(sl_timeline_intern(tl, name, &note.name, &err), &err);
    must(sl_timeline_add_stream(tl, &note, &err), &err);
}

#define ISSUE_FIRST "Issue what is to run next before the host waits; for order on the device " \
                    "cudaStreamWaitEvent does not hold the host"

/* A copy from pageable memory, two to it, one that blocks, and two calls that wait. */
static sl_timeline *make_foreign(void)
{
    sl_timeline *tl = make();
    sl_span up = op(tl, SL_SPAN_MEMCPY_H2D, 1, "up", AT(0, 60), AT(5, 60));
    up.flags = SL_SPAN_SRC_PAGEABLE;
    add(tl, up);
    sl_span down = op(tl, SL_SPAN_MEMCPY_D2H, 1, "down", AT(60, 80), AT(65, 80));
    down.flags = SL_SPAN_DST_PAGEABLE;
    down.bytes = 4096;
    add(tl, down);
    down.bytes = 4;
    add(tl, down);
    sl_call waited = { .correlation = 5, .kind = SL_CALL_PLAIN, .waited_for_device = 1 };
    sl_call sync = { .correlation = 6, .kind = SL_CALL_STREAM_SYNC };
    sl_error err;
    must(sl_timeline_add_call(tl, &waited, &err), &err);
    must(sl_timeline_add_call(tl, &sync, &err), &err);
    down.flags = SL_SPAN_HOST_WAITED;
    add(tl, down);
    sl_timeline_finish(tl, 0, 100000);
    return tl;
}

/* The host was blocked in each of these. */
static void test_foreign(void)
{
    static const struct { uint64_t by; const char *cuda, *pytorch; } cases[] = {
        { 1, "Pin the memory on the host (cudaMallocHost, or cudaHostRegister): H2D from pageable "
             "memory blocks the host 96.0 us",
          "Pin the tensor on the CPU (t.pin_memory(), DataLoader(pin_memory=True)): H2D from "
          "pageable memory blocks the host 96.0 us" },
        { 2, "Copy into pinned memory: cudaMallocHost and cudaMemcpyAsync"
             ", and wait for the copy before you read it; D2H to pageable memory "
             "blocks the host 96.0 us",
          "Copy into pinned memory: t.to(\"cpu\", non_blocking=True)"
          ", and wait for the copy before you read it; D2H to pageable memory "
          "blocks the host 96.0 us" },
        { 3, "Copy into pinned memory: cudaMallocHost and cudaMemcpyAsync"
             ", and wait for the copy before you read it; D2H to pageable memory "
             "blocks the host 96.0 us",
          "Reading a value (t.item(), or an if, a print or a float() of it) waits for all work "
          "before it in its stream: read it after the other work has been issued, and not in "
          "every round" },
        { 5, "Allocate before and free after the part that counts, or use the stream-ordered "
             "cudaMallocAsync and cudaFreeAsync",
          "Run a round before the part that counts, so that PyTorch has its memory, and do not "
          "empty its cache in between" },
        { 6, ISSUE_FIRST,
          "Issue what is to run next before the host waits; for order on the device "
          "stream.wait_event(e) does not hold the host" },
        { 4, "Use cudaMemcpyAsync and wait for it where its result is needed",
          "Give the copy non_blocking=True and wait for it where its result is needed" },
    };
    sl_timeline *tl = make_foreign();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sl_finding f = { .cause = SL_CAUSE_HOST_BLOCKED, .waiter = 2, .by = cases[i].by };
        sl_timeline_set_origin(tl, (sl_origin){ 0 });
        tell_of(tl, f);
        is_str(remedy_of, cases[i].cuda, "remedy %zu speaks CUDA", i + 1);
        sl_timeline_set_origin(tl, (sl_origin){ .pytorch = true });
        tell_of(tl, f);
        is_str(remedy_of, cases[i].pytorch, "and PyTorch of PyTorch's traces");
    }
    sl_timeline_release(tl);
}

static void test_foreign_guesses(void)
{
    sl_timeline *tl = make_foreign();
    sl_timeline_set_origin(tl, (sl_origin){ .pytorch = true });
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .waiter = 2, .by = 5 });
    is_str(sentence_of, "No kernel ran for 96.0 us: the host was blocked in a call, which probably "
           "waited for all work of the device", "what was inferred is said to be probable");
    is_str(clause_of, "the host is blocked in a call", "in a clause, too");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_WORK, .waiter = 2, .by = 5 });
    is_str(clause_of, "the host issues no work", "nor in a clause");
    is_str(remedy_of, "Issue the GPU's work first, and let the host work while it runs",
           "one long pause is the host's work");
    is_str(sentence_of, "No kernel ran for 96.0 us: the host issued no work then",
           "what the host did between its calls is not claimed");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_WORK, .waiter = 2, .by = 5, .n_waits = 2 });
    is_str(remedy_of, "Python takes that time between the operations: make fewer and larger ones, "
           "or a CUDA graph (torch.compile(mode=\"reduce-overhead\"))", "many short ones are Python's");
    sl_timeline_release(tl);
}

/* One call of the host, of which no more than its name is known. */
static sl_timeline *one_call(const char *name)
{
    sl_timeline *tl = make();
    sl_call call = { .correlation = 1, .kind = SL_CALL_PLAIN };
    sl_error err;
    must(sl_timeline_intern(tl, name, &call.name, &err), &err);
    must(sl_timeline_add_call(tl, &call, &err), &err);
    sl_timeline_finish(tl, 0, 100000);
    return tl;
}

static void test_foreign_calls(void)
{
    sl_timeline *tl = one_call("cudaHostAlloc");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .by = 1 });
    is_str(sentence_of, "No kernel ran for 96.0 us: the host was busy in cudaHostAlloc",
           "nor that a call waited that did not");
    is_str(clause_of, "the host is busy in cudaHostAlloc", "in a clause, either");
    is_str(remedy_of, "Allocate pinned memory once, before the part that counts, and use it again",
           "and pinned memory is used again");
    sl_timeline_release(tl);
    tl = one_call("cudaStreamSynchronize");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .by = 1 });
    is_str(sentence_of, "No kernel ran for 96.0 us: the host was blocked in cudaStreamSynchronize",
           "a synchronisation with nobody knows what still waits");
    is_str(remedy_of, ISSUE_FIRST, "and is no call for another time");
    sl_timeline_release(tl);
}

static void test_foreign_one_stream(void)
{
    sl_timeline *tl = make();
    sl_span copy = op(tl, SL_SPAN_MEMCPY_D2H, 1, "down", AT(0, 4), AT(5, 9));
    run(tl, SL_SPAN_KERNEL, 1, "a", AT(0, 4), AT(5, 9));
    add(tl, copy);
    sl_timeline_finish(tl, 0, 100000);
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_HOST_ISSUING, .waiter = 2, .by = 1 });
    is_str(remedy_of, "The GPU waits for launches: fewer and larger operations keep it busy, or a "
           "CUDA graph", "what is in one stream cannot be issued in turns");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_ROOM, .waiter = 2, .by = 1 });
    is_str(sentence_of, "No kernel ran for 96.0 us: down in stream 1 waited for a in stream 1, "
           "which probably left no room on the SMs for a kernel before it",
           "a copy needs no room itself");
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_UNKNOWN });
    is_str(sentence_of, "No kernel ran for 96.0 us: an operation waited for something that the "
           "records do not tell", "what is not known is said to be unknown");
    sl_timeline_set_origin(tl, (sl_origin){ .devices = 3, .last_ns = 1 });
    tell_of(tl, (sl_finding){ .cause = SL_CAUSE_UNKNOWN });
    is_str(sentence_of, "No kernel ran for 96.0 us: an operation waited for something that the "
           "records do not tell, perhaps another GPU", "where there is another GPU it is named");
    sl_timeline_release(tl);
}

static void test_foreign_default_stream(void)
{
    sl_timeline *tl = make();
    name_stream(tl, 0, "stream 7");
    name_stream(tl, 2, "stream 9");
    sl_finding f = { .cause = SL_CAUSE_NULL_STREAM,
                     .by = run(tl, SL_SPAN_KERNEL, 0, "a", AT(0, 4), AT(5, 105)),
                     .waiter = run(tl, SL_SPAN_KERNEL, 2, "b", AT(6, 10), AT(106, 155)) };
    finish(tl);
    tell_of(tl, f);
    is_str(sentence_of, "No kernel ran for 96.0 us: b in stream 9 waited for a in stream 7: work "
           "in the default stream (stream 7) and work in blocking streams wait for each other (the "
           "trace does not say whether its stream is one)",
           "streams have the names of their rows");
    is_str(remedy_of, "Keep work out of the default stream, or create the stream with "
           "cudaStreamNonBlocking, and wait where an order is needed",
           "nor does the remedy for the default stream speak Lua");
    f.cause = SL_CAUSE_EVENT;
    tell_of(tl, f);
    is_str(sentence_of, "No kernel ran for 96.0 us: b in stream 9 waited for an event that was "
           "recorded behind a in stream 7", "what a trace says is not called probable");
    sl_timeline_set_origin(tl, (sl_origin){ .unknown_waits = true });
    tell_of(tl, f);
    is_str(sentence_of, "No kernel ran for 96.0 us: b in stream 9 waited for an event that was "
           "probably recorded behind a in stream 7", "what it does not say is");
    is_str(clause_of, "b in stream 9 waits for an event that was probably recorded behind a in "
           "stream 7", "in a clause, too");
    sl_timeline_release(tl);
}

/* A priority does not take blocks off the SMs. */
static void test_urgent(void)
{
    sl_timeline *tl = recorded();
    sl_error err;
    sl_stream_note urgent = { .id = 2, .priority = -5 };
    must(sl_timeline_add_stream(tl, &urgent, &err), &err);
    run(tl, SL_SPAN_KERNEL, 1, "long", AT(0, 4), AT(5, 105));
    run(tl, SL_SPAN_KERNEL, 2, "urgent", AT(6, 10), AT(105, 155));
    finish(tl);
    sl_finding f = { .cause = SL_CAUSE_ROOM, .waiter = 2, .by = 1, .lost_ns = 95000 };
    sl_text sentence = { 0 }, remedy = { 0 };
    sl_finding_tell(tl, &f, &sentence, &remedy);
    ok(strstr(remedy.data, "a priority acts when blocks end") != NULL,
       "who has the higher priority is not told to take one");
    sl_text_free(&sentence);
    sl_text_free(&remedy);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_labels();
    test_operands();
    test_sentences();
    test_empty();
    test_page();
    test_names();
    test_hardly();
    test_foreign();
    test_foreign_guesses();
    test_foreign_calls();
    test_foreign_one_stream();
    test_many();
    test_foreign_default_stream();
    test_urgent();
    return done_testing();
}
