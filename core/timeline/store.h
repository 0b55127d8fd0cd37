/* store.h - what other files of core may ask of a timeline beyond timeline.h.
 *
 * The layout of the store stays in timeline.c; its readers need only
 * these few questions.
 */
#ifndef SL_TIMELINE_STORE_H
#define SL_TIMELINE_STORE_H

#include "../text/labels.h"
#include "../text/text.h"
#include "timeline.h"

/* Times lie between this and its negative (some 73 years), so that the difference of two
 * cannot overflow. */
#define SL__TIME_LIMIT_NS (INT64_C(1) << 61)

/* The id of `text` if it is interned; never adds. */
bool sl__timeline_find_text(const sl_timeline *timeline, const char *text, uint32_t *id);

/* The short name of a kernel, by the text id of its name: other kernels of the timeline have
 * others. Of a finished timeline; NULL: as sl_label_kernel writes it. */
const char *sl__timeline_kernel_name(const sl_timeline *timeline, uint32_t name);

/* The note of stream `id`, or NULL. */
const sl_stream_note *sl__timeline_note(const sl_timeline *timeline, uint32_t id);
/* The stream of a span, without the rest of it. */
uint32_t sl__timeline_stream_of(const sl_timeline *timeline, size_t span);
/* Whether stream `id` waits for the legacy NULL stream, and that for it: by default, it does. */
bool sl__timeline_is_blocking(const sl_timeline *timeline, uint32_t id);

/* Every device has engines of its own: the engines of all places, numbered. */
enum { SL__UNITS = SL_MOST_DEVICES * SL_ENGINES };
static inline int sl__unit(int place, sl_engine engine) { return place * SL_ENGINES + (int)engine; }
static inline int sl__unit_of(const sl_timeline *timeline, const sl_span *span)
{
    return sl__unit(sl_timeline_place(timeline, span->stream), (sl_engine)span->engine);
}
static inline int sl__unit_count(const sl_timeline *timeline)
{
    return sl_timeline_device_count(timeline) * SL_ENGINES;
}

/* Of another program: recorded, or read from its trace. */
static inline bool sl__timeline_is_foreign(const sl_timeline *timeline)
{
    return *sl_timeline_device(timeline)->backend == '\0';
}

/* What sl_timeline_causes has found; the timeline frees it. Only that function sets it. */
typedef struct sl__kept_causes {
    bool found;
    sl_explanation explanation;
} sl__kept_causes;
sl__kept_causes *sl__timeline_kept_causes(const sl_timeline *timeline);
/* The chain of an explanation, and nothing else of it (explain.c). The caller frees it. SL_ENOMEM,
 * SL_EINTERRUPT. */
sl_status sl__causes_chain(const sl_timeline *timeline, sl_explanation *explanation, sl_error *err);

/* What is in doubt about the timeline (doubts.c). */
typedef struct sl__doubts {
    sl_doubt all[SL_DOUBTS]; /* by kind */
    size_t n;
    sl_text notice;
} sl__doubts;
void sl__doubts_free(sl__doubts *doubts);

/* ---- for the recorder: times that come after the operation ------------------ */

#define SL__UNTIMED INT64_MIN

/* Until finish, the times of a span that is added may be SL__UNTIMED, and so may the
 * device_ns of a record or a wait. finish takes out the spans that have no times then,
 * and sets such a device_ns to 0. */
void sl__timeline_expect_times(sl_timeline *timeline);
bool sl__timeline_has_untimed(const sl_timeline *timeline);

/* Puts spans and calls in order of correlation, before finish. Only a finished timeline is read by
 * others than the recorder. */
void sl__timeline_sort(sl_timeline *timeline);
/* Replaces one: the correlation stays. Without memory false, and nothing changes. */
bool sl__timeline_set_span(sl_timeline *timeline, size_t index, const sl_span *span);
bool sl__timeline_set_call(sl_timeline *timeline, size_t index, const sl_call *call);

/* ---- in order of issue --------------------------------------------------------- */

/* Spans and calls together, in order of their correlations:
 *     for (sl__issues at = { .timeline = timeline }; sl__issues_next(&at);) */
typedef struct sl__issues {
    const sl_timeline *timeline;
    size_t n_spans, n_calls; /* so far */
    bool is_call;            /* which of them comes now, */
    size_t index;
    sl_span span; /* and the last of each */
    sl_call call;
} sl__issues;
bool sl__issues_next(sl__issues *at);
/* Of the host, that made the call of the one that is there. */
uint32_t sl__issues_thread(const sl__issues *at);

/* streams.c: of a device, "gpu1: ", or of a rank, "rank 1: ". */
void sl__device_prefix(char buffer[SL_PREFIX_BYTES], bool is_rank, int index);

/* ---- tools ---------------------------------------------------------------------- */

/* For loops over spans: whether to end before the i-th round because the user wants that, which
 * every 4096th round asks. The loop's function then fails with sl_interrupt_check. */
static inline bool sl__stops_at(size_t i) { return i % 4096 == 4095 && sl_interrupt_wanted(); }

/* a + b for b >= 0, at most INT64_MAX: sums over absurdly long spans must not overflow. */
static inline int64_t sl__add_ns(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

#endif
