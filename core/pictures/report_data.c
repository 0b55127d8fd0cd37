/* report_data.c - what a page shows of a timeline, as one JSON object: the figures, computed
 * here so that page and terminal say the same, the texts, and the spans and calls column by
 * column (columns.h).
 *
 * Times in it are ns from `base_ns`, the earliest of all, so that none is negative.
 * No text of the timeline stands anywhere but in that object, without a "<": it can
 * neither end its <script> nor become part of the page.
 */
#include "pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/operations.h"
#include "../timeline/store.h"
#include "report_head.h"
#include "report_parts.h"

#define MOST_PARTS 12    /* of the makespan */
#define LONGEST_NAME 500 /* bytes of a name or a line of the script */

typedef sl__page page;

/* A name that a trace gives, of any length: a browser takes a second for each 10 kB without a
 * blank. */
static void cut_text(page *p, const char *key, const char *value)
{
    char cut[LONGEST_NAME + 4];
    size_t n = strnlen(value, sizeof cut);
    if (n < sizeof cut) {
        text(p, key, value);
        return;
    }
    n = LONGEST_NAME;
    while (n > 0 && ((unsigned char)value[n] & 0xc0) == 0x80)
        n--;
    memcpy(cut, value, n);
    memcpy(cut + n, "...", 4);
    text(p, key, cut);
}

/* ---- columns ---------------------------------------------------------------------- */

#define SPANS(p, n, key, value) \
    COLUMN(p, n, sl_span s = sl_timeline_span((p)->timeline, i), key, value)
#define CALLS(p, n, key, value) \
    COLUMN(p, n, sl_call c = sl_timeline_call((p)->timeline, i), key, value)
#define WAITS(p, n, key, value) COLUMN(p, n, const sl_wait *w = &(p)->why->waits[i], key, value)
#define HOLDS(p, n, key, value) COLUMN(p, n, const sl_hold *h = &(p)->holds[i], key, value)

static size_t lane(const page *p, uint32_t stream) { return sl__lanes_find(&p->lanes, stream); }

/* The launch of a graph whose call is the span's, or the captured call's; 0: it has its own. */
static uint64_t launch_of_span(const page *p, const sl_span *span)
{
    size_t call = sl_timeline_span_launch(p->timeline, span);
    return call != SL_NOT_FOUND ? sl_timeline_call(p->timeline, call).correlation : 0;
}

static uint64_t launch_of_call(const page *p, const sl_call *edge)
{
    size_t call = sl_timeline_call_launch(p->timeline, edge);
    return call != SL_NOT_FOUND ? sl_timeline_call(p->timeline, call).correlation : 0;
}

/* 1 + its number in the graph; 0: no graph ran it. */
static int64_t node(const page *p, const sl_span *span)
{
    sl_node_note note;
    bool found = sl_timeline_find_node(p->timeline, span->correlation, &note);
    return found ? (int64_t)sl_timeline_node_number(p->timeline, &note) + 1 : 0;
}

/* A text. */
static uint32_t graph_name(const page *p, const sl_span *span)
{
    const sl_launch_note *note = sl_timeline_find_launch(p->timeline, span->correlation);
    return note ? note->name : 0;
}

/* Only the ranges of the host need to know who made a call. */
static bool has_threads(const page *p)
{
    return sl_timeline_thread_count(p->timeline) > 1
           && sl_timeline_host_range_count(p->timeline) > 0;
}

static void put_spans(page *p)
{
    const size_t n = sl_timeline_span_count(p->timeline);
    number(p, ",\n\"spans\":{\"n\":", (int64_t)n);
    SPANS(p, n, "id", whole(s.correlation));
    SPANS(p, n, "start", since(p, s.start_ns));
    SPANS(p, n, "length", s.end_ns - s.start_ns);
    SPANS(p, n, "hostStart", since(p, s.host_start_ns));
    SPANS(p, n, "hostLength",
          s.host_end_ns - s.host_start_ns - sl_timeline_recording_of_span_ns(p->timeline, &s));
    SPANS(p, n, "stream", lane(p, s.stream));
    SPANS(p, n, "kind", s.kind);
    SPANS(p, n, "engine", s.engine);
    if (sl_timeline_has_several(p->timeline))
        SPANS(p, n, "place", sl_timeline_place(p->timeline, s.stream));
    SPANS(p, n, "flags", s.flags);
    SPANS(p, n, "name", s.name);
    SPANS(p, n, "where", s.where);
    SPANS(p, n, "symbol", s.symbol);
    SPANS(p, n, "bytes", whole(s.bytes));
    SPANS(p, n, "blocks", s.blocks);
    SPANS(p, n, "threads", s.threads);
    SPANS(p, n, "node", node(p, &s));
    SPANS(p, n, "graph", graph_name(p, &s));
    SPANS(p, n, "launch", whole(launch_of_span(p, &s)));
    if (has_threads(p)) SPANS(p, n, "thread", sl_timeline_thread(p->timeline, s.correlation));
    HOLDS(p, n, "ready", since(p, h->ready_ns));
    HOLDS(p, n, "readyBy", whole(h->ready_by));
    HOLDS(p, n, "startBy", whole(h->start_by));
    HOLDS(p, n, "readyCause", h->ready_cause);
    HOLDS(p, n, "startCause", h->start_cause);
    raw(p, "}");
}

static void put_calls(page *p)
{
    const size_t n = sl_timeline_call_count(p->timeline);
    number(p, ",\n\"calls\":{\"n\":", (int64_t)n);
    CALLS(p, n, "id", whole(c.correlation));
    CALLS(p, n, "hostStart", since(p, c.host_start_ns));
    CALLS(p, n, "hostLength",
          c.host_end_ns - c.host_start_ns - sl_timeline_recording_of_call_ns(p->timeline, &c));
    CALLS(p, n, "stream", lane(p, c.stream));
    CALLS(p, n, "kind", c.kind);
    CALLS(p, n, "name", c.name);
    CALLS(p, n, "where", c.where);
    CALLS(p, n, "target", whole(c.target));
    CALLS(p, n, "waited", c.waited_for_device || c.queue_full);
    CALLS(p, n, "launch", whole(launch_of_call(p, &c)));
    if (has_threads(p)) CALLS(p, n, "thread", sl_timeline_thread(p->timeline, c.correlation));
    raw(p, "}");
}

/* ---- names and texts -------------------------------------------------------------- */

/* Of the devices, by place; and the places by the devices' numbers. */
static void put_prefixes(page *p)
{
    char prefix[SL_PREFIX_BYTES];
    raw(p, ",\n\"gpus\":[");
    for (int place = 0; place < sl_timeline_device_count(p->timeline); place++)
        text(p, place ? "," : "", sl_timeline_device_prefix(p->timeline, place, prefix));
    raw(p, "],\n\"gpu_order\":[");
    for (int k = 0; k < sl_timeline_device_count(p->timeline); k++)
        number(p, k ? "," : "", sl_timeline_place_in_order(p->timeline, k));
    raw(p, "]");
}

static void put_device(page *p)
{
    const sl_device_info *info = sl_timeline_device(p->timeline);
    char name[SL_DEVICE_NAME_BYTES];
    text(p, ",\n\"device\":{\"name\":", sl_timeline_device_name(p->timeline, name));
    text(p, ",\"backend\":", info->backend);
    text(p, ",\"profile\":", info->profile);
    truth(p, ",\"simulated\":", info->simulated);
    raw(p, "}");
    if (sl_timeline_has_several(p->timeline)) put_prefixes(p);
}

/* ["...","..."]; `value` may use the index i. */
#define LIST(p, n, key, value)                \
    do {                                      \
        raw((p), ",\n\"" key "\":[");         \
        for (int i = 0; i < (n); i++)         \
            text((p), i ? "," : "", (value)); \
        raw((p), "]");                        \
    } while (0)

static void put_names(page *p)
{
    LIST(p, SL_SPAN_KINDS, "kinds", sl_span_kind_name((sl_span_kind)i));
    LIST(p, SL_SPAN_KINDS, "spanCalls", sl_span_call_name(&(sl_span){ .kind = (uint8_t)i }));
    LIST(p, SL_HOST_LOOKS, "hostStyles", sl_host_looks[i].name);
    LIST(p, SL_HOST_LOOKS, "hostLabels", sl_host_looks[i].label);
    LIST(p, SL_SPAN_KINDS, "labels", sl_looks[i].label);
    LIST(p, SL_ENGINES, "engines", sl_engine_name((sl_engine)i));
}

static void put_streams(page *p)
{
    raw(p, ",\n\"streams\":[");
    for (size_t i = 0; i < p->lanes.n; i++) {
        const sl_stream_note *note = sl__timeline_note(p->timeline, p->lanes.ids[i]);
        element(p, i);
        number(p, "{\"id\":", p->lanes.ids[i]);
        cut_text(p, ",\"name\":", note ? sl_timeline_text(p->timeline, note->name) : "");
        number(p, ",\"priority\":", note ? note->priority : 0);
        truth(p, ",\"nonBlocking\":", note && note->non_blocking);
        raw(p, "}");
    }
    raw(p, "]");
}

/* The texts by id, the short names of kernels that need one, and the script's lines by the
 * id of their position. */
static void put_texts(page *p)
{
    size_t n = sl_timeline_text_count(p->timeline), written = 0;
    raw(p, ",\n\"texts\":[");
    for (size_t i = 0; i < n; i++) {
        element(p, i);
        cut_text(p, "", sl_timeline_text(p->timeline, (uint32_t)i));
    }
    raw(p, "],\n\"kernels\":{");
    for (size_t i = 0; i < n; i++) {
        const char *name = sl__timeline_kernel_name(p->timeline, (uint32_t)i);
        if (!name) continue;
        number(p, written++ ? ",\"" : "\"", (int64_t)i);
        cut_text(p, "\":", name);
    }
    written = 0;
    raw(p, "},\n\"sources\":{");
    for (size_t i = 0; i < n; i++) {
        const char *line = sl_timeline_source(p->timeline, (uint32_t)i);
        if (!*line) continue;
        element(p, written++);
        number(p, "\"", (int64_t)i);
        text(p, "\":", line);
    }
    raw(p, "}");
}

/* ---- explanation ------------------------------------------------------------------ */

/* Of each cause how it is called, and its traits. */
static void put_causes(page *p)
{
    LIST(p, SL_CAUSES, "causes", sl_cause_name((sl_cause)i));
    raw(p, ",\n\"causeWords\":{");
    for (int i = 0; i < SL_CAUSES; i++) {
        const char *code = i == SL_CAUSE_NONE ? "" : sl_cause_name((sl_cause)i);
        const char *title = p->words ? p->words->titles[i] : code;
        const char *shorter = p->words ? p->words->shorts[i] : code;
        unsigned traits = sl_cause_traits((sl_cause)i);
        element(p, (size_t)i);
        text(p, "", sl_cause_name((sl_cause)i));
        text(p, ":{\"title\":", title ? title : "");
        text(p, ",\"short\":", shorter ? shorter : "");
        truth(p, ",\"inCall\":", traits & SL_CAUSE_IN_CALL);
        truth(p, ",\"ofHost\":", traits & SL_CAUSE_BY_HOST && traits & SL_CAUSE_ENGINELESS);
        raw(p, "}");
    }
    raw(p, "}");
}

/* Begins an object. */
static void put_finding(page *p, const sl_finding *f)
{
    text(p, "{\"cause\":", sl_cause_name(f->cause));
    number(p, ",\"engine\":", f->engine);
    truth(p, ",\"idle\":", f->idle);
    number(p, ",\"lost\":", f->lost_ns);
    number(p, ",\"gain\":", f->gain_ns);
    number(p, ",\"waits\":", whole(f->count));
    number(p, ",\"waiter\":", whole(f->waiter));
    number(p, ",\"by\":", whole(f->by));
    truth(p, ",\"manyWaiters\":", f->many_waiters);
    truth(p, ",\"manyBy\":", f->many_by);
    number(p, ",\"from\":", since(p, f->from_ns));
    number(p, ",\"to\":", since(p, f->to_ns));
}

static void put_findings(page *p, size_t n)
{
    raw(p, ",\n\"findings\":[");
    for (size_t i = 0; i < n; i++) {
        const char *remedy = p->words ? p->words->remedies[i] : NULL;
        element(p, i);
        put_finding(p, &p->why->findings[i]);
        number(p, ",\"group\":", (int64_t)p->why->findings[i].same_as);
        text(p, ",\"sentence\":", p->words ? p->words->sentences[i] : "");
        text(p, ",\"remedy\":", remedy ? remedy : "");
        raw(p, "}");
    }
    raw(p, "]");
}

/* The parts of the makespan, and what was left out of them. */
static void put_chain(page *p)
{
    const sl_explanation *why = p->why;
    size_t n = why->n_chain < MOST_PARTS ? why->n_chain : MOST_PARTS;
    int64_t rest_ns = 0;
    raw(p, ",\n\"chain\":[");
    for (size_t i = 0; i < n; i++) {
        element(p, i);
        put_finding(p, &why->chain[i]);
        raw(p, "}");
    }
    for (size_t i = n; i < why->n_chain; i++)
        rest_ns = sl__add_ns(rest_ns, why->chain[i].lost_ns);
    number(p, "],\n\"rest\":", rest_ns);
}

static void put_verdict(page *p)
{
    sl_verdict verdict = sl_explanation_judge(p->timeline, p->why);
    truth(p, ",\n\"verdict\":{\"good\":", verdict.good);
    number(p, ",\"gain\":", verdict.gain_ns);
    text(p, ",\"sentence\":", p->words ? p->words->verdict : "");
    text(p, ",\"doubts\":", p->words ? p->words->doubts : sl_timeline_notice(p->timeline));
    raw(p, "}");
}

/* The waits of the first n findings. */
static void put_waits(page *p, size_t n)
{
    size_t n_waits = 0;
    while (n_waits < p->why->n_waits && p->why->waits[n_waits].finding < n)
        n_waits++;
    number(p, ",\n\"waits\":{\"n\":", (int64_t)n_waits);
    WAITS(p, n_waits, "waiter", whole(w->waiter));
    WAITS(p, n_waits, "by", whole(w->by));
    WAITS(p, n_waits, "from", since(p, w->from_ns));
    WAITS(p, n_waits, "to", since(p, w->to_ns));
    WAITS(p, n_waits, "finding", w->finding);
    raw(p, "}");
}

static void put_explanation(page *p)
{
    size_t all = p->why->n_findings, n = all < SL_PAGE_FINDINGS ? all : SL_PAGE_FINDINGS;
    truth(p, ",\n\"explanation\":{\"inferred\":", p->why->inferred);
    number(p, ",\"leftOut\":", (int64_t)(all - n));
    put_findings(p, n);
    put_chain(p);
    put_waits(p, n);
    raw(p, "}");
}

/* ---- all ------------------------------------------------------------------------- */

sl_status sl__report_put_data(page *p, sl_error *err)
{
    char name[SL__HEAD_NAME_BYTES];
    raw(p, "{\"version\":\"" STREAMLAB_VERSION "\"");
    sl__head_name(p->timeline, name);
    text(p, ",\n\"name\":", name);
    put_device(p);
    put_names(p);
    put_streams(p);
    sl__report_put_figures(p);
    put_causes(p);
    put_verdict(p);
    put_explanation(p);
    put_texts(p);
    put_spans(p);
    put_calls(p);
    const sl_status status = sl__report_put_over_time(p, err);
    raw(p, "}\n");
    return status;
}

/* The host's clock of a timeline that recorded nothing may be far from the others. */
static void find_base(page *p)
{
    const size_t n_spans = sl_timeline_span_count(p->timeline);
    const size_t n_calls = sl_timeline_call_count(p->timeline);
    p->base_ns = n_spans + n_calls > 0 ? INT64_MAX : sl_timeline_host_start_ns(p->timeline);
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(p->timeline, i);
        p->base_ns = sl__min(p->base_ns, sl__min(span.start_ns, span.host_start_ns));
    }
    for (size_t i = 0; i < n_calls; i++)
        p->base_ns = sl__min(p->base_ns, sl_timeline_call(p->timeline, i).host_start_ns);
}

sl_status sl__report_open(const sl_timeline *timeline, const sl_page_words *words, page *p,
                          sl_error *err)
{
    *p = (page){ .timeline = timeline, .words = words, .file = { .fd = -1 } };
    sl_status status = sl__lanes_collect(timeline, true, &p->lanes, err);
    if (status == SL_OK) status = sl_timeline_figures(timeline, 0, &p->figures, err);
    if (status == SL_OK) status = sl_timeline_causes(timeline, &p->why, err);
    if (status == SL_OK) status = sl__span_holds_collect(timeline, &p->holds, err);
    if (status == SL_OK) find_base(p);
    return status;
}

void sl__report_close(page *p)
{
    sl_figures_free(&p->figures);
    free(p->holds);
    sl__lanes_free(&p->lanes);
}
