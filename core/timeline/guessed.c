/* guessed.c - the spans whose duration is a guess. */
#include "guessed.h"

#include <stdlib.h>

#include "overlap.h"

static int64_t length_of(const sl_span *span) { return span->end_ns - span->start_ns; }

static void find(const sl_span *spans, size_t n, sl_guessed *guessed)
{
    const sl_span *longest = NULL;
    for (size_t i = 0; i < n; i++) {
        const sl_span *span = &spans[i];
        if (!(span->flags & SL_SPAN_GUESSED)) continue;
        guessed->n_spans++;
        guessed->other_names |= longest && span->name != longest->name;
        if (!longest || length_of(span) > length_of(longest)) longest = span;
    }
    if (longest) guessed->name = longest->name;
}

static sl_status measure(const sl_span *spans, size_t n, sl_guessed *guessed, sl_error *err)
{
    sl__union u = { .at = malloc(guessed->n_spans * sizeof *u.at) };
    if (!u.at) return sl_fail(err, SL_ENOMEM, "no memory for %zu intervals", guessed->n_spans);
    for (size_t i = 0; i < n; i++) {
        if (spans[i].flags & SL_SPAN_GUESSED && length_of(&spans[i]) > 0)
            u.at[u.n++] = (sl__interval){ spans[i].start_ns, spans[i].end_ns };
    }
    sl__union_join(&u);
    guessed->busy_ns = sl__union_length_ns(&u);
    sl__union_free(&u);
    return sl_interrupt_check(err);
}

sl_status sl_timeline_guessed(const sl_timeline *timeline, sl_guessed *guessed, sl_error *err)
{
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    *guessed = (sl_guessed){ 0 };
    find(spans, n, guessed);
    return guessed->n_spans > 0 ? measure(spans, n, guessed, err) : SL_OK;
}
