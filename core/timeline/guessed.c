/* guessed.c - the spans whose duration is a guess. */
#include <stdlib.h>

#include "overlap.h"

static int64_t length_of(const sl_span *span) { return span->end_ns - span->start_ns; }

static void find(const sl_timeline *timeline, size_t n, sl_guessed *guessed)
{
    sl_span longest = { 0 };
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (!(span.flags & SL_SPAN_GUESSED)) continue;
        guessed->other_names |= guessed->n_spans > 0 && span.name != longest.name;
        if (guessed->n_spans++ == 0 || length_of(&span) > length_of(&longest)) longest = span;
    }
    guessed->name = longest.name;
}

static sl_status measure(const sl_timeline *timeline, size_t n, sl_guessed *guessed, sl_error *err)
{
    sl__union u = { .at = malloc(guessed->n_spans * sizeof *u.at) };
    if (!u.at) return sl__no_memory(err, "%zu intervals", guessed->n_spans);
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (span.flags & SL_SPAN_GUESSED && length_of(&span) > 0)
            u.at[u.n++] = (sl__interval){ span.start_ns, span.end_ns };
    }
    sl__union_join(&u);
    guessed->busy_ns = sl__union_length_ns(&u);
    sl__union_free(&u);
    return sl_interrupt_check(err);
}

sl_status sl_timeline_guessed(const sl_timeline *timeline, sl_guessed *guessed, sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    *guessed = (sl_guessed){ 0 };
    find(timeline, n, guessed);
    return guessed->n_spans > 0 ? measure(timeline, n, guessed, err) : SL_OK;
}
