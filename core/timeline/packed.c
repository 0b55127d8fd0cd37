/* packed.c - spans and calls, packed and unpacked. */
#include "packed.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "store.h"

enum { /* sl__packed.marks */
       UNPACKED = 1,
       HELD = 2,
       UNTIMED = 4, /* its start is SL__UNTIMED */
       AT_ZERO = 8, /* its start is 0, as of calls that are no operations */
       TARGETED = 16
};

#define SPAN_SHARED offsetof(sl_span, bytes) /* from there on attributes are shared */
#define CALL_SHARED offsetof(sl_call, stream)
#define SPAN_BYTES (sizeof(sl_span) - SPAN_SHARED)
#define CALL_BYTES (offsetof(sl_call, queue_full) + sizeof(uint8_t) - CALL_SHARED)

/* Bytes that are of no attribute are 0. */
typedef union shared {
    uint64_t words[SL__SPAN_WORDS];
    struct {
        unsigned char span[SPAN_BYTES];
        uint32_t thread;
        uint32_t is_node, graph, node, launch_back; /* launch_back: how far back; 0: none */
        int32_t priority;
    } of_span;
    struct {
        unsigned char call[CALL_BYTES];
        uint32_t thread;
    } of_call;
} shared;

_Static_assert(sizeof(sl__packed) == 48, "an operation is kept in 48 bytes");
_Static_assert(sizeof(shared) == SL__SPAN_WORDS * sizeof(uint64_t),
               "the shared attributes of a span have no gaps");
_Static_assert(sizeof(((shared *)NULL)->of_call) == SL__CALL_WORDS * sizeof(uint64_t),
               "those of a call fill their words");

/* ---- one record ------------------------------------------------------------------- */

static uint64_t since(int64_t ns, int64_t start_ns) { return (uint64_t)ns - (uint64_t)start_ns; }

static int64_t after(int64_t start_ns, uint64_t ns) { return (int64_t)((uint64_t)start_ns + ns); }

/* Once the rest is there. False: it does not fit. */
static bool pack_hold(const sl_hold *hold, sl__packed *e)
{
    uint64_t ready_ns = since(hold->ready_ns, e->host_start_ns);
    uint64_t ready_by = hold->ready_by ? e->correlation - hold->ready_by : 0;
    int64_t start_by = hold->start_by ? (int64_t)(e->correlation - hold->start_by) : 0;
    e->ready_ns = (uint32_t)ready_ns;
    e->ready_by = (uint32_t)ready_by;
    e->start_by = (uint32_t)start_by;
    e->ready_cause = hold->ready_cause;
    e->start_cause = hold->start_cause;
    e->marks |= HELD;
    return (ready_ns | ready_by) <= UINT32_MAX && start_by >= INT32_MIN && start_by <= INT32_MAX
           && (start_by != 0) == (hold->start_by != 0);
}

static bool pack(const sl__unpacked *w, sl__packed *e)
{
    bool untimed = w->start_ns == SL__UNTIMED, at_zero = w->start_ns == 0;
    uint64_t start_ns = untimed || at_zero ? 0 : since(w->start_ns, w->host_start_ns);
    uint64_t host_ns = since(w->host_end_ns, w->host_start_ns);
    e->correlation = w->correlation;
    e->host_start_ns = w->host_start_ns;
    e->host_ns = (uint32_t)host_ns;
    e->start_ns = (uint32_t)start_ns;
    e->more = (uint32_t)w->more;
    e->marks = (uint8_t)((untimed ? UNTIMED : 0) | (at_zero ? AT_ZERO : 0)
                         | (w->has_target ? TARGETED : 0));
    return (start_ns | host_ns | w->more) <= UINT32_MAX && (!w->is_held || pack_hold(&w->hold, e));
}

static inline sl_hold unpack_hold(const sl__packed *e)
{
    return (sl_hold){
        .correlation = e->correlation,
        .ready_ns = after(e->host_start_ns, e->ready_ns),
        .ready_by = e->ready_by ? e->correlation - e->ready_by : 0,
        .start_by = e->start_by ? e->correlation - (uint64_t)(int64_t)(int32_t)e->start_by : 0,
        .ready_cause = e->ready_cause,
        .start_cause = e->start_cause,
    };
}

/* Without what held it. */
static inline sl__unpacked unpack(const sl__packed_list *list, const sl__packed *e)
{
    if (e->marks & UNPACKED) return list->unpacked[e->start_ns];
    return (sl__unpacked){
        .correlation = e->correlation,
        .host_start_ns = e->host_start_ns,
        .host_end_ns = after(e->host_start_ns, e->host_ns),
        .start_ns = e->marks & UNTIMED   ? SL__UNTIMED
                    : e->marks & AT_ZERO ? 0
                                         : after(e->host_start_ns, e->start_ns),
        .more = e->more,
        .has_target = e->marks & TARGETED,
    };
}

static bool keep_unpacked(sl__packed_list *list, const sl__unpacked *w, sl__packed *e)
{
    size_t index = e->start_ns;
    if (!(e->marks & UNPACKED)) {
        index = list->n_unpacked;
        if (index == UINT32_MAX || !SL__GROW(list->unpacked, list->cap_unpacked, index + 1))
            return false;
        list->n_unpacked++;
    }
    list->unpacked[index] = *w;
    e->start_ns = (uint32_t)index;
    e->marks = (uint8_t)(UNPACKED | (w->is_held ? HELD : 0));
    return true;
}

/* The record's shared attributes stay. */
static bool keep(sl__packed_list *list, const sl__unpacked *w, sl__packed *e)
{
    sl__packed packed = { .shared = e->shared };
    bool fits = pack(w, &packed);
    if (!fits) {
        packed.start_ns = e->start_ns;
        packed.marks = e->marks;
        if (!keep_unpacked(list, w, &packed)) return false;
    }
    *e = packed;
    return true;
}

/* ---- shared attributes ----------------------------------------------------------------- */

static const uint64_t *words_of(const sl__packed_list *list, const sl__packed *e)
{
    return list->shared.at + e->shared * (1 + list->shared.more);
}

static shared shared_of(const sl__packed_list *list, const sl__packed *e)
{
    shared s = { .words = { 0 } };
    memcpy(s.words, words_of(list, e), (1 + list->shared.more) * sizeof *s.words);
    return s;
}

/* Most records share them with the latest one. */
static bool share(sl__packed_list *list, const shared *s, sl__packed *e)
{
    const size_t bytes = (1 + list->shared.more) * sizeof *s->words;
    size_t number;
    if (list->n > 0 && memcmp(words_of(list, &list->at[list->n - 1]), s->words, bytes) == 0) {
        e->shared = list->at[list->n - 1].shared;
        return true;
    }
    if (!sl__keys_number(&list->shared, s->words, &number)) return false;
    e->shared = (uint32_t)number;
    return true;
}

static bool set(sl__packed_list *list, const sl__unpacked *w, const shared *s, sl__packed *e)
{
    sl__packed changed = *e;
    if (!share(list, s, &changed) || !keep(list, w, &changed)) return false;
    *e = changed;
    return true;
}

static bool add(sl__packed_list *list, const sl__unpacked *w, const shared *s)
{
    sl__packed e = { .marks = 0 };
    const size_t n = list->n;
    if (!SL__GROW(list->at, list->cap, n + 1) || !set(list, w, s, &e)) return false;
    if (n > 0 && e.correlation < list->at[n - 1].correlation) list->unsorted = true;
    list->at[n] = e;
    list->n++;
    return true;
}

static bool replace(sl__packed_list *list, size_t index, sl__unpacked *w, const shared *s)
{
    w->is_held = sl__packed_hold(list, index, &w->hold);
    return set(list, w, s, &list->at[index]);
}

static uint32_t *thread_of(const sl__packed_list *list, shared *s)
{
    return list->shared.more + 1 == SL__SPAN_WORDS ? &s->of_span.thread : &s->of_call.thread;
}

uint32_t sl__packed_thread(const sl__packed_list *list, size_t index)
{
    shared s = shared_of(list, &list->at[index]);
    return *thread_of(list, &s);
}

bool sl__packed_set_thread(sl__packed_list *list, size_t index, uint32_t thread)
{
    shared s = shared_of(list, &list->at[index]);
    *thread_of(list, &s) = thread;
    return share(list, &s, &list->at[index]);
}

bool sl__packed_node(const sl__packed_list *spans, size_t index, sl_node_note *node)
{
    const sl__packed *e = &spans->at[index];
    const shared s = shared_of(spans, e);
    *node = (sl_node_note){
        .correlation = e->correlation,
        .launch = s.of_span.launch_back ? e->correlation - s.of_span.launch_back : 0,
        .graph = s.of_span.graph,
        .node = s.of_span.node,
        .priority = s.of_span.priority,
    };
    return s.of_span.is_node;
}

bool sl__packed_set_node(sl__packed_list *spans, size_t index, const sl_node_note *node)
{
    sl__packed *e = &spans->at[index];
    shared s = shared_of(spans, e);
    s.of_span.is_node = true;
    s.of_span.graph = node->graph;
    s.of_span.node = node->node;
    s.of_span.priority = node->priority;
    s.of_span.launch_back = node->launch ? (uint32_t)(e->correlation - node->launch) : 0;
    return share(spans, &s, e);
}

/* ---- spans ------------------------------------------------------------------------- */

static sl__unpacked unpacked_span(const sl_span *span)
{
    return (sl__unpacked){
        .correlation = span->correlation,
        .host_start_ns = span->host_start_ns,
        .host_end_ns = span->host_end_ns,
        .start_ns = span->start_ns,
        .more = since(span->end_ns, span->start_ns),
    };
}

static void read_unpacked_span(const sl__packed_list *spans, const sl__packed *e, sl_span *span)
{
    const sl__unpacked w = unpack(spans, e);
    span->start_ns = w.start_ns;
    span->end_ns = after(w.start_ns, w.more);
    span->host_start_ns = w.host_start_ns;
    span->host_end_ns = w.host_end_ns;
}

sl_span sl__packed_span(const sl__packed_list *spans, size_t index)
{
    const sl__packed *e = &spans->at[index];
    sl_span span;
    memcpy((char *)&span + SPAN_SHARED, spans->shared.at + e->shared * SL__SPAN_WORDS, SPAN_BYTES);
    span.correlation = e->correlation;
    if (e->marks & (UNPACKED | UNTIMED | AT_ZERO)) {
        read_unpacked_span(spans, e, &span);
    } else {
        span.start_ns = after(e->host_start_ns, e->start_ns);
        span.end_ns = after(span.start_ns, e->more);
        span.host_start_ns = e->host_start_ns;
        span.host_end_ns = after(e->host_start_ns, e->host_ns);
    }
    return span;
}

uint32_t sl__packed_stream(const sl__packed_list *spans, size_t index)
{
    const size_t at = offsetof(sl_span, stream) - SPAN_SHARED;
    uint32_t stream;
    memcpy(&stream, (const char *)words_of(spans, &spans->at[index]) + at, sizeof stream);
    return stream;
}

bool sl__packed_add_span(sl__packed_list *spans, const sl_span *span)
{
    const sl__unpacked w = unpacked_span(span);
    shared s = { .words = { 0 } };
    memcpy(s.of_span.span, (const char *)span + SPAN_SHARED, SPAN_BYTES);
    return add(spans, &w, &s);
}

bool sl__packed_set_span(sl__packed_list *spans, size_t index, const sl_span *span)
{
    sl__unpacked w = unpacked_span(span);
    shared s = shared_of(spans, &spans->at[index]);
    memcpy(s.of_span.span, (const char *)span + SPAN_SHARED, SPAN_BYTES);
    return replace(spans, index, &w, &s);
}

/* ---- calls ------------------------------------------------------------------------- */

static sl__unpacked unpacked_call(const sl_call *call)
{
    return (sl__unpacked){
        .correlation = call->correlation,
        .host_start_ns = call->host_start_ns,
        .host_end_ns = call->host_end_ns,
        .start_ns = call->device_ns,
        .more = call->target ? call->correlation - call->target : 0,
        .has_target = call->target != 0,
    };
}

sl_call sl__packed_call(const sl__packed_list *calls, size_t index)
{
    const sl__packed *e = &calls->at[index];
    const sl__unpacked w = unpack(calls, e);
    sl_call call = {
        .host_start_ns = w.host_start_ns,
        .host_end_ns = w.host_end_ns,
        .device_ns = w.start_ns,
        .correlation = w.correlation,
        .target = w.has_target ? w.correlation - w.more : 0,
    };
    memcpy((char *)&call + CALL_SHARED, words_of(calls, e), CALL_BYTES);
    return call;
}

bool sl__packed_add_call(sl__packed_list *calls, const sl_call *call)
{
    const sl__unpacked w = unpacked_call(call);
    shared s = { .words = { 0 } };
    memcpy(s.of_call.call, (const char *)call + CALL_SHARED, CALL_BYTES);
    return add(calls, &w, &s);
}

bool sl__packed_set_call(sl__packed_list *calls, size_t index, const sl_call *call)
{
    sl__unpacked w = unpacked_call(call);
    shared s = shared_of(calls, &calls->at[index]);
    memcpy(s.of_call.call, (const char *)call + CALL_SHARED, CALL_BYTES);
    return replace(calls, index, &w, &s);
}

/* ---- what held them ---------------------------------------------------------------- */

bool sl__packed_hold(const sl__packed_list *list, size_t index, sl_hold *hold)
{
    const sl__packed *e = &list->at[index];
    if (!(e->marks & HELD)) return false;
    *hold = e->marks & UNPACKED ? list->unpacked[e->start_ns].hold : unpack_hold(e);
    return true;
}

bool sl__packed_set_hold(sl__packed_list *list, size_t index, const sl_hold *hold)
{
    sl__packed *e = &list->at[index], packed = *e;
    if (e->marks & HELD) return true;
    if (!(e->marks & UNPACKED) && pack_hold(hold, &packed)) {
        *e = packed;
        return true;
    }
    sl__unpacked w = unpack(list, e);
    w.is_held = true;
    w.hold = *hold;
    return keep(list, &w, e);
}

/* ---- all of them ------------------------------------------------------------------- */

SL__ORDER(by_correlation, sl__packed, x->correlation);

static bool is_sorted(const sl__packed_list *list)
{
    for (size_t i = 1; i < list->n; i++)
        if (list->at[i].correlation < list->at[i - 1].correlation) return false;
    return true;
}

/* Operations come as they end, behind others that were issued later, but not behind many: windows
 * that overlap by half are sorted one after the other, since the C library would take 8 to 16 bytes
 * an operation to sort them all at once. */
void sl__packed_sort(sl__packed_list *list)
{
    const size_t half = 1 << 15, size = sizeof *list->at;
    if (!list->unsorted) return;
    for (size_t i = 0; i < list->n; i += half)
        qsort(list->at + i, list->n - i < 2 * half ? list->n - i : 2 * half, size, by_correlation);
    if (!is_sorted(list)) qsort(list->at, list->n, size, by_correlation);
    list->unsorted = false;
}

size_t sl__packed_find(const sl__packed_list *list, uint64_t correlation)
{
    const sl__packed *all = list->at;
    size_t at;
    if (list->n > 0 && all[list->n - 1].correlation == correlation) return list->n - 1;
    if (list->unsorted || list->n == 0 || all[list->n - 1].correlation < correlation)
        return SL_NOT_FOUND;
    SL__SEARCH(at, list->n, all[at].correlation < correlation);
    return all[at].correlation == correlation ? at : SL_NOT_FOUND;
}

void sl__packed_trim(sl__packed_list *list)
{
    SL__TRIM(list->at, list->cap, list->n);
    SL__TRIM(list->unpacked, list->cap_unpacked, list->n_unpacked);
    sl__keys_trim(&list->shared);
}

void sl__packed_free(sl__packed_list *list)
{
    free(list->at);
    free(list->unpacked);
    sl__keys_free(&list->shared);
}
