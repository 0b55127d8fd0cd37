/* remedies.c - what to do about a finding, in the words of who wrote the program: Lua, PyTorch or
 * CUDA. Where the script's line is known, the variable that it is about is named.
 */
#include "tell.h"

#include <string.h>

#include "operand.h"
#include "store.h"

#define SHORT_WORK_NS 500000    /* on average: the host did not prepare data, or wait for it */
#define ONE_VALUE_BYTES 16      /* of an item() at most: a complex number of two doubles */

static const char pin_once[] =
    "Allocate pinned memory once, before the part that counts, and use it again";

/* "`data_on_cpu`", or `otherwise`. */
static void put_operand(const sl__sides *s, sl_text *out, bool written, const char *otherwise)
{
    const char *name = NULL;
    int n = sl__find_operand(sl_timeline_source(s->timeline, sl__by_where(s)), written, &name);
    if (n > 0)
        sl_text_add(out, "`%.*s`", n, name);
    else
        sl_text_add(out, "%s", otherwise);
}

static bool is_pytorch(const sl__sides *s)
{
    return sl_timeline_origin(s->timeline).pytorch;
}

/* What the user of the timeline writes. */
static const char *by_language(const sl__sides *s, const char *lua, const char *pytorch,
                               const char *cuda)
{
    return is_pytorch(s) ? pytorch : sl__is_foreign(s->timeline) ? cuda : lua;
}

/* What copy_ writes to is there already; what to and cpu give is made by them. */
static void advise_to_pageable(const sl__sides *s, sl_text *out)
{
    const char *name;
    const char *line = sl_timeline_source(s->timeline, sl__by_where(s));
    if (sl__is_foreign(s->timeline)) {
        sl_text_add(out, "Copy into pinned memory: %s", is_pytorch(s)
                    ? "t.to(\"cpu\", non_blocking=True)"
                    : "cudaMallocHost and cudaMemcpyAsync");
    } else if (sl__find_operand(line, true, &name) > 0) {
        sl_text_add(out, "Pin ");
        put_operand(s, out, true, "");
        sl_text_add(out, " (pinned = true, or t:pin()) and copy with non_blocking = true");
    } else {
        sl_text_add(out, "Copy ");
        put_operand(s, out, false, "the tensor");
        sl_text_add(out, " into pinned memory: t:to(\"cpu\", {non_blocking = true}) does, or copy_ "
                    "into a pinned tensor");
    }
    sl_text_add(out, ", and wait for the copy before you read it; D2H to pageable memory blocks "
                "the host ");
    sl__put_time(out, s->finding->by_host_ns);
}

static void advise_from_pageable(const sl__sides *s, sl_text *out)
{
    sl_text_add(out, "Pin ");
    put_operand(s, out, false, by_language(s, "the tensor on the CPU", "the tensor on the CPU",
                                           "the memory on the host"));
    sl_text_add(out, " (%s)", by_language(s, "t:pin_memory(), or pinned = true",
                                          "t.pin_memory(), DataLoader(pin_memory=True)",
                                          "cudaMallocHost, or cudaHostRegister"));
    sl_text_add(out, ": H2D from pageable memory blocks the "
                "host ");
    sl__put_time(out, s->finding->by_host_ns);
}

/* t:item() and its like copy to the host what they read. */
static bool reads_a_value(const sl__sides *s)
{
    if (is_pytorch(s))
        return s->by->bytes > 0 && s->by->bytes <= ONE_VALUE_BYTES;
    const char *line = sl_timeline_source(s->timeline, sl__by_where(s));
    return strstr(line, ":item(") || strstr(line, ":get(") || strstr(line, ":totable(");
}

static bool is_named(const sl__sides *s, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(sl_call_name(s->timeline, s->by_call), *names) == 0)
            return true;
    }
    return false;
}

static bool allocates_pinned(const sl__sides *s)
{
    static const char *const names[] = { "pinned allocation", "cudaHostAlloc", "cudaMallocHost",
                                         "cudaHostRegister", NULL };
    return s->by_call && is_named(s, names);
}

/* A call that is no synchronisation. */
static void advise_call(const sl__sides *s, sl_text *out)
{
    static const char *const of_memory[] = { "cudaMalloc", "cudaFree", NULL };
    bool memory = s->by_call->waited_for_device || (sl__is_foreign(s->timeline) &&
                                                    is_named(s, of_memory));
    if (allocates_pinned(s))
        sl_text_add(out, "%s", pin_once);
    else if (!memory)
        sl_text_add(out, s->finding->n_waits > 1
                    ? "Call it less often, or before the part that counts"
                    : "Call it before the part that counts");
    else
        sl_text_add(out, "%s",
                    by_language(s, "Allocate before and free after the part that counts, or use "
                                   "the stream-ordered malloc_async and free_async",
                                "Run a round before the part that counts, so that PyTorch has its "
                                "memory, and do not empty its cache in between",
                                "Allocate before and free after the part that counts, or use the "
                                "stream-ordered cudaMallocAsync and cudaFreeAsync"));
}

static void advise_blocked(const sl__sides *s, sl_text *out)
{
    if (sl__is_to_pageable(s->by) && reads_a_value(s))
        sl_text_add(out, "Reading a value%s waits for all work before it in its stream: read it "
                    "after the other work has been issued, and not in every round",
                    is_pytorch(s) ? " (t.item(), or an if, a print or a float() of it)" : "");
    else if (sl__is_to_pageable(s->by))
        advise_to_pageable(s, out);
    else if (sl__is_from_pageable(s->by))
        advise_from_pageable(s, out);
    else if (s->by && (s->by->kind == SL_SPAN_KERNEL || s->by->flags & SL_SPAN_LOADED))
        sl_text_add(out, "Run each kernel once before the part that counts");
    else if (s->by && !(s->by->flags & SL_SPAN_HOST_WAITED))
        sl_text_add(out, "Run it once before the part that counts");
    else if (s->by)
        sl_text_add(out, "%s and wait for it where its result is needed",
                    by_language(s, "Give the copy non_blocking = true",
                                "Give the copy non_blocking=True", "Use cudaMemcpyAsync"));
    else if (sl__is_plain_call(s))
        advise_call(s, out);
    else
        sl_text_add(out, "Issue what is to run next before the host waits; for order on the device "
                    "%s does not hold the host",
                    by_language(s, "s:wait_event(e)", "stream.wait_event(e)",
                                "cudaStreamWaitEvent"));
}

/* Short pauses between PyTorch's calls are Python's own time for each of them. */
static void advise_host_work(const sl__sides *s, sl_text *out)
{
    size_t n = s->finding->n_waits;
    if (is_pytorch(s) && n > 1 && s->finding->lost_ns / (int64_t)n < SHORT_WORK_NS)
        sl_text_add(out, "Python takes that time between the operations: make fewer and larger "
                    "ones, or a CUDA graph (torch.compile(mode=\"reduce-overhead\"))");
    else
        sl_text_add(out, "%s", allocates_pinned(s)
                    ? pin_once : "Issue the GPU's work first, and let the host work while it runs");
}

static int32_t priority_of(const sl__sides *s, const sl_span *span)
{
    const sl_stream_note *note = sl__timeline_note(s->timeline, span->stream);
    return note ? note->priority : 0;
}

/* What waited has the higher priority already. */
static bool is_more_urgent(const sl__sides *s)
{
    return s->waiter && s->by && priority_of(s, s->waiter) < priority_of(s, s->by);
}

/* Neither could have gone before the other. */
static bool is_in_one_stream(const sl__sides *s)
{
    return s->waiter && s->by && s->waiter->stream == s->by->stream && !s->finding->many_by
           && !s->finding->many_waiters;
}

/* Before the kernel in front of it has ended, as the launch of a kernel alone can ask for. */
static bool may_start_early(const sl__sides *s)
{
    return s->waiter && s->by && s->waiter->kind == SL_SPAN_KERNEL
           && s->by->kind == SL_SPAN_KERNEL;
}

void sl__advise(const sl__sides *s, sl_text *out)
{
    switch (s->finding->cause) {
    case SL_CAUSE_STREAM_ORDER:
        if (!s->finding->idle)
            sl_text_add(out, "Each leaves SMs empty: if they do not depend on one another, put "
                        "them into two streams");
        else
            sl_text_add(out, "%s: put work that does not depend on the other into another stream, "
                        "or cut both into pieces that take turns", may_start_early(s)
                        ? "One stream runs one thing at a time, unless a launch asks for an early "
                          "start (compute capability 9.0 on)"
                        : "In one stream nothing runs beside a copy or a memset");
        break;
    case SL_CAUSE_EVENT:
        sl_text_add(out, "Record the event directly after the one operation whose result is "
                    "used; if none is used, do without the wait");
        break;
    case SL_CAUSE_NULL_STREAM:
        sl_text_add(out, "Keep work out of the default stream%s, and wait where an order is needed",
                    by_language(s, ": lab.with(stream, ...); or give the stream non_blocking = true",
                                ", or use PyTorch's own streams, which do not wait for it",
                                ", or create the stream with cudaStreamNonBlocking"));
        break;
    case SL_CAUSE_CHANNEL:
        sl_text_add(out, "Use fewer streams, or more channels: CUDA_DEVICE_MAX_CONNECTIONS, from 8 "
                    "up to 32, set before the program starts");
        break;
    case SL_CAUSE_ENGINE:
        if (s->by && s->by->engine == SL_ENGINE_HOST)
            sl_text_add(out, "Keep host functions short, and have few of them");
        else
            sl_text_add(out, "Issue first the copy that other work waits for; all of them end "
                        "sooner only with fewer bytes");
        break;
    case SL_CAUSE_ROOM:
        sl_text_add(out, "A kernel that fills the GPU runs alone: only smaller grids overlap, "
                    "and %s",
                    is_more_urgent(s) ? "a priority acts when blocks end, so make them shorter"
                                      : "a higher priority lets a stream go first");
        break;
    case SL_CAUSE_PRIORITY:
        sl_text_add(out, "That is what the priority asks for; give both streams the same to have "
                    "them in order of arrival");
        break;
    case SL_CAUSE_QUEUE_FULL:
        sl_text_add(out, "Issue fewer and larger operations, or the other streams' work before "
                    "this stream's queue is full; CUDA_SCALE_LAUNCH_QUEUES=4x in the environment "
                    "makes the queue longer (CUDA 12 and later)");
        break;
    case SL_CAUSE_HOST_BLOCKED: advise_blocked(s, out); break;
    case SL_CAUSE_HOST_WORK: advise_host_work(s, out); break;
    case SL_CAUSE_HOST_ISSUING:
        if (s->finding->waiter == s->finding->by || is_in_one_stream(s))
            sl_text_add(out, "The GPU waits for launches: fewer and larger operations keep it "
                        "busy%s", by_language(s, "", ", or a CUDA graph "
                                              "(torch.compile(mode=\"reduce-overhead\"))",
                                              ", or a CUDA graph"));
        else
            sl_text_add(out, "Issue the two alternately, or first the one that came too late");
        break;
    case SL_CAUSE_LATENCY:
        sl_text_add(out, "Each operation costs its start-up: make fewer and larger ones");
        break;
    case SL_CAUSE_NONE:
    case SL_CAUSE_UNKNOWN:
    case SL_CAUSES: break;
    }
}
