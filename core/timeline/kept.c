/* kept.c - spans and calls, packed and unpacked. */
#include "kept.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "store.h"

enum { /* sl__entry.marks */
       WIDE = 1,
       HELD = 2,
       UNTIMED = 4, /* its start is SL__UNTIMED */
       AT_ZERO = 8, /* its start is 0, as of calls that are no operations */
       TARGETED = 16
};

#define SPAN_FORM offsetof(sl_span, bytes) /* from there on it is the form */
#define CALL_FORM offsetof(sl_call, stream)

_Static_assert(sizeof(sl__entry) == 48, "an operation is kept in 48 bytes");
_Static_assert(sizeof(sl_span) - SPAN_FORM == SL__SPAN_WORDS * sizeof(uint64_t),
               "the form of a span has no gaps");
_Static_assert(sizeof(sl_call) - CALL_FORM == SL__CALL_WORDS * sizeof(uint64_t),
               "the form of a call has gaps at its end only");

typedef union form {
    uint64_t words[SL__SPAN_WORDS];
    unsigned char bytes[SL__SPAN_WORDS * sizeof(uint64_t)];
} form;

/* ---- one entry ------------------------------------------------------------------- */

static uint64_t since(int64_t ns, int64_t start_ns) { return (uint64_t)ns - (uint64_t)start_ns; }

static int64_t after(int64_t start_ns, uint64_t ns) { return (int64_t)((uint64_t)start_ns + ns); }

/* Once the rest is there. False: it does not fit. */
static bool pack_hold(const sl_hold *hold, sl__entry *e)
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

static bool pack(const sl__wide *w, sl__entry *e)
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

static inline sl_hold unpack_hold(const sl__entry *e)
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
static inline sl__wide unpack(const sl__kept *kept, const sl__entry *e)
{
    if (e->marks & WIDE) return kept->wide[e->start_ns];
    return (sl__wide){
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

static bool keep_wide(sl__kept *kept, const sl__wide *w, sl__entry *e)
{
    size_t index = e->start_ns;
    if (!(e->marks & WIDE)) {
        index = kept->n_wide;
        if (index == UINT32_MAX || !SL__GROW(kept->wide, kept->cap_wide, index + 1)) return false;
        kept->n_wide++;
    }
    kept->wide[index] = *w;
    e->start_ns = (uint32_t)index;
    e->marks = (uint8_t)(WIDE | (w->is_held ? HELD : 0));
    return true;
}

/* The entry's form stays. */
static bool keep(sl__kept *kept, const sl__wide *w, sl__entry *e)
{
    sl__entry packed = { .form = e->form };
    bool fits = pack(w, &packed);
    if (!fits) {
        packed.start_ns = e->start_ns;
        packed.marks = e->marks;
        if (!keep_wide(kept, w, &packed)) return false;
    }
    *e = packed;
    return true;
}

/* ---- forms ------------------------------------------------------------------------- */

static form form_of_span(const sl_span *span)
{
    form f;
    memcpy(f.bytes, (const char *)span + SPAN_FORM, sizeof f.bytes);
    return f;
}

/* What lies between its members is 0. */
static form form_of_call(const sl_call *call)
{
    form f = { .words = { 0 } };
    memcpy(f.bytes, (const char *)call + CALL_FORM,
           offsetof(sl_call, queue_full) + sizeof call->queue_full - CALL_FORM);
    return f;
}

static const void *form_at(const sl__kept *kept, const sl__entry *e)
{
    return kept->forms.at + e->form * (1 + kept->forms.more);
}

static bool set(sl__kept *kept, const sl__wide *w, const form *f, sl__entry *e)
{
    sl__entry changed = *e;
    size_t number;
    if (!sl__keys_number(&kept->forms, f->words, &number)) return false;
    changed.form = (uint32_t)number;
    if (!keep(kept, w, &changed)) return false;
    *e = changed;
    return true;
}

static bool add(sl__kept *kept, const sl__wide *w, const form *f)
{
    sl__entry e = { .marks = 0 };
    const size_t n = kept->n;
    if (!SL__GROW(kept->at, kept->cap, n + 1) || !set(kept, w, f, &e)) return false;
    if (n > 0 && e.correlation < kept->at[n - 1].correlation) kept->unsorted = true;
    kept->at[n] = e;
    kept->n++;
    return true;
}

static bool replace(sl__kept *kept, size_t index, sl__wide *w, const form *f)
{
    w->is_held = sl__kept_hold(kept, index, &w->hold);
    return set(kept, w, f, &kept->at[index]);
}

/* ---- spans ------------------------------------------------------------------------- */

static sl__wide wide_span(const sl_span *span)
{
    return (sl__wide){
        .correlation = span->correlation,
        .host_start_ns = span->host_start_ns,
        .host_end_ns = span->host_end_ns,
        .start_ns = span->start_ns,
        .more = since(span->end_ns, span->start_ns),
    };
}

static void read_odd_span(const sl__kept *spans, const sl__entry *e, sl_span *span)
{
    const sl__wide w = unpack(spans, e);
    span->start_ns = w.start_ns;
    span->end_ns = after(w.start_ns, w.more);
    span->host_start_ns = w.host_start_ns;
    span->host_end_ns = w.host_end_ns;
}

sl_span sl__kept_span(const sl__kept *spans, size_t index)
{
    const sl__entry *e = &spans->at[index];
    sl_span span;
    memcpy((char *)&span + SPAN_FORM, spans->forms.at + e->form * SL__SPAN_WORDS,
           sizeof span - SPAN_FORM);
    span.correlation = e->correlation;
    if (e->marks & (WIDE | UNTIMED | AT_ZERO)) {
        read_odd_span(spans, e, &span);
    } else {
        span.start_ns = after(e->host_start_ns, e->start_ns);
        span.end_ns = after(span.start_ns, e->more);
        span.host_start_ns = e->host_start_ns;
        span.host_end_ns = after(e->host_start_ns, e->host_ns);
    }
    return span;
}

bool sl__kept_add_span(sl__kept *spans, const sl_span *span)
{
    const sl__wide w = wide_span(span);
    const form f = form_of_span(span);
    return add(spans, &w, &f);
}

bool sl__kept_set_span(sl__kept *spans, size_t index, const sl_span *span)
{
    sl__wide w = wide_span(span);
    const form f = form_of_span(span);
    return replace(spans, index, &w, &f);
}

/* ---- calls ------------------------------------------------------------------------- */

static sl__wide wide_call(const sl_call *call)
{
    return (sl__wide){
        .correlation = call->correlation,
        .host_start_ns = call->host_start_ns,
        .host_end_ns = call->host_end_ns,
        .start_ns = call->device_ns,
        .more = call->target ? call->correlation - call->target : 0,
        .has_target = call->target != 0,
    };
}

sl_call sl__kept_call(const sl__kept *calls, size_t index)
{
    const sl__entry *e = &calls->at[index];
    const sl__wide w = unpack(calls, e);
    sl_call call = {
        .host_start_ns = w.host_start_ns,
        .host_end_ns = w.host_end_ns,
        .device_ns = w.start_ns,
        .correlation = w.correlation,
        .target = w.has_target ? w.correlation - w.more : 0,
    };
    memcpy((char *)&call + CALL_FORM, form_at(calls, e), sizeof call - CALL_FORM);
    return call;
}

bool sl__kept_add_call(sl__kept *calls, const sl_call *call)
{
    const sl__wide w = wide_call(call);
    const form f = form_of_call(call);
    return add(calls, &w, &f);
}

bool sl__kept_set_call(sl__kept *calls, size_t index, const sl_call *call)
{
    sl__wide w = wide_call(call);
    const form f = form_of_call(call);
    return replace(calls, index, &w, &f);
}

/* ---- what held them ---------------------------------------------------------------- */

bool sl__kept_hold(const sl__kept *kept, size_t index, sl_hold *hold)
{
    const sl__entry *e = &kept->at[index];
    if (!(e->marks & HELD)) return false;
    *hold = e->marks & WIDE ? kept->wide[e->start_ns].hold : unpack_hold(e);
    return true;
}

bool sl__kept_set_hold(sl__kept *kept, size_t index, const sl_hold *hold)
{
    sl__entry *e = &kept->at[index], packed = *e;
    if (e->marks & HELD) return true;
    if (!(e->marks & WIDE) && pack_hold(hold, &packed)) {
        *e = packed;
        return true;
    }
    sl__wide w = unpack(kept, e);
    w.is_held = true;
    w.hold = *hold;
    return keep(kept, &w, e);
}

/* ---- all of them ------------------------------------------------------------------- */

static int by_correlation(const void *left, const void *right)
{
    uint64_t a = ((const sl__entry *)left)->correlation;
    uint64_t b = ((const sl__entry *)right)->correlation;
    return (a > b) - (a < b);
}

static bool is_sorted(const sl__kept *kept)
{
    for (size_t i = 1; i < kept->n; i++)
        if (kept->at[i].correlation < kept->at[i - 1].correlation) return false;
    return true;
}

/* Operations come as they end, behind others that were issued later, but not behind many: windows that
 * overlap by half are sorted one after the other, since the C library would take 8 to 16 bytes an
 * operation to sort them all at once. */
void sl__kept_sort(sl__kept *kept)
{
    const size_t half = 1 << 15, size = sizeof *kept->at;
    if (!kept->unsorted) return;
    for (size_t i = 0; i < kept->n; i += half)
        qsort(kept->at + i, kept->n - i < 2 * half ? kept->n - i : 2 * half, size, by_correlation);
    if (!is_sorted(kept)) qsort(kept->at, kept->n, size, by_correlation);
    kept->unsorted = false;
}

size_t sl__kept_find(const sl__kept *kept, uint64_t correlation)
{
    const sl__entry *entries = kept->at;
    size_t at;
    if (kept->n > 0 && entries[kept->n - 1].correlation == correlation) return kept->n - 1;
    if (kept->unsorted || kept->n == 0 || entries[kept->n - 1].correlation < correlation)
        return SL_NOT_FOUND;
    SL__SEARCH(at, kept->n, entries[at].correlation < correlation);
    return entries[at].correlation == correlation ? at : SL_NOT_FOUND;
}

void sl__kept_trim(sl__kept *kept)
{
    SL__TRIM(kept->at, kept->cap, kept->n);
    SL__TRIM(kept->wide, kept->cap_wide, kept->n_wide);
    sl__keys_trim(&kept->forms);
}

void sl__kept_free(sl__kept *kept)
{
    free(kept->at);
    free(kept->wide);
    sl__keys_free(&kept->forms);
}
