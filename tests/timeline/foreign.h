/* foreign.h - traces of other programs, written event by event, and what was read of them. */
#ifndef TESTS_TIMELINE_FOREIGN_H
#define TESTS_TIMELINE_FOREIGN_H

#include "make.h"
#include "../../core/traces/kineto_read.h"

#define K7 KERNEL "\"tid\":7,"
#define KERNEL "\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,"
/* A call that begins at `ts`. */
#define AT(name, ts, dur, id)                                     \
    "{" CALL "\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
    ",\"args\":{\"correlation\":" #id "}}"
#define CALL "\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":9,"
#define SYNC "\"ph\":\"X\",\"cat\":\"cuda_sync\",\"pid\":0,"

/* From a copy that ends where the text ends, for the sanitizer to see. NULL: refused. */
TAP_UNUSED static sl_timeline *parse_bytes(const char *text, size_t n, sl_error *err)
{
    sl_timeline *tl = NULL;
    char *copy = malloc(n ? n : 1);
    if (copy) memcpy(copy, text, n);
    sl_status status = sl__kineto_parse(copy, n, SL_BUSIEST_DEVICE, &tl, err);
    free(copy);
    return status == SL_OK ? tl : NULL;
}

typedef struct rest {
    const char *at;
    size_t n;
} rest;

TAP_UNUSED static sl_status read_rest(void *ud, char *to, size_t room, size_t *n, sl_error *err)
{
    rest *left = ud;
    (void)err;
    *n = left->n < room ? left->n : room;
    memcpy(to, left->at, *n);
    left->at += *n;
    left->n -= *n;
    return SL_OK;
}

/* The same text, of which `part` bytes are read at once. */
TAP_UNUSED static sl_timeline *parse_parts(const char *text, size_t n, size_t part, sl_error *err)
{
    sl_timeline *tl = NULL;
    rest left = { text, n };
    sl__parts parts = { .read = read_rest, .ud = &left, .part = part };
    sl_status status = sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, err);
    return status == SL_OK ? tl : NULL;
}

/* A list of events. */
TAP_UNUSED static sl_timeline *events(const char *list)
{
    sl_error err;
    sl_timeline *tl = parse_bytes(list, strlen(list), &err);
    if (!tl) must(SL_EINVAL, &err);
    return tl;
}

TAP_UNUSED static const sl_span *span_at(const sl_timeline *tl, size_t i)
{
    size_t n;
    const sl_span *spans = spans_of(tl, &n);
    static const sl_span none;
    return i < n ? &spans[i] : &none;
}

TAP_UNUSED static const sl_call *call_at(const sl_timeline *tl, size_t i)
{
    size_t n;
    const sl_call *calls = calls_of(tl, &n);
    static const sl_call none;
    return i < n ? &calls[i] : &none;
}

TAP_UNUSED static size_t span_count(const sl_timeline *tl)
{
    size_t n;
    n = sl_timeline_span_count(tl);
    return n;
}

TAP_UNUSED static size_t call_count(const sl_timeline *tl)
{
    size_t n;
    n = sl_timeline_call_count(tl);
    return n;
}

/* "" where nothing of that kind is in doubt. */
TAP_UNUSED static const char *doubt_sentence(const sl_timeline *tl, sl_doubt_kind kind)
{
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(tl, &n);
    for (size_t i = 0; i < n; i++)
        if (doubts[i].kind == kind) return doubts[i].sentence;
    return "";
}

TAP_UNUSED static const char *stream_name(const sl_timeline *tl, uint32_t id,
                                          const sl_stream_note **note)
{
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(tl, &n);
    for (size_t i = 0; i < n; i++) {
        if (notes[i].id == id) {
            *note = &notes[i];
            return sl_timeline_text(tl, notes[i].name);
        }
    }
    *note = NULL;
    return "(none)";
}

#endif
