/* make.h - timelines made by hand, for the tests of core/timeline. */
#ifndef TESTS_TIMELINE_MAKE_H
#define TESTS_TIMELINE_MAKE_H

#include <stdlib.h>
#include <string.h>

#include "../../core/streamlab.h"
#include "../kept.h"
#include "../tap.h"

/* The correlation of what was added last; each addition takes the next one. */
TAP_UNUSED static uint64_t issued;

TAP_UNUSED static void must(sl_status status, const sl_error *err)
{
    if (status != SL_OK) {
        printf("Bail out! %s\n", err->msg);
        exit(1);
    }
}

TAP_UNUSED static sl_timeline *make(void)
{
    sl_timeline *tl;
    sl_error err;
    must(sl_timeline_create(&tl, &err), &err);
    issued = 0;
    return tl;
}

TAP_UNUSED static uint32_t text_id(sl_timeline *tl, const char *text)
{
    uint32_t id;
    sl_error err;
    must(sl_timeline_intern(tl, text, &id, &err), &err);
    return id;
}

/* The usual engine of a kind; the host's call takes 2 ns, 10 ns apart. */
TAP_UNUSED static uint64_t span(sl_timeline *tl, uint32_t stream, sl_span_kind kind,
                                int64_t start_ns, int64_t end_ns)
{
    static const uint8_t engines[SL_SPAN_KINDS] = {
        [SL_SPAN_KERNEL] = SL_ENGINE_COMPUTE,     [SL_SPAN_COLLECTIVE] = SL_ENGINE_COMM,
        [SL_SPAN_MEMCPY_H2D] = SL_ENGINE_H2D,     [SL_SPAN_MEMCPY_D2H] = SL_ENGINE_D2H,
        [SL_SPAN_MEMCPY_D2D] = SL_ENGINE_COMPUTE, [SL_SPAN_MEMCPY_P2P] = SL_ENGINE_P2P,
        [SL_SPAN_MEMSET] = SL_ENGINE_COMPUTE,     [SL_SPAN_HOST_FUNC] = SL_ENGINE_HOST,
    };
    sl_error err;
    sl_span s = {
        .start_ns = start_ns,
        .end_ns = end_ns,
        .stream = stream,
        .correlation = ++issued,
        .kind = (uint8_t)kind,
        .engine = engines[kind],
    };
    s.host_start_ns = (int64_t)issued * 10;
    s.host_end_ns = s.host_start_ns + 2;
    s.name = text_id(tl, sl_span_kind_name(kind));
    must(sl_timeline_add_span(tl, &s, &err), &err);
    return issued;
}

TAP_UNUSED static uint64_t kernel(sl_timeline *tl, uint32_t stream, int64_t start_ns,
                                  int64_t end_ns)
{
    return span(tl, stream, SL_SPAN_KERNEL, start_ns, end_ns);
}

TAP_UNUSED static uint64_t call(sl_timeline *tl, sl_call_kind kind, uint32_t stream,
                                uint64_t target, uint32_t target_stream)
{
    sl_error err;
    sl_call c = {
        .kind = (uint8_t)kind,
        .stream = stream,
        .target = target,
        .target_stream = target_stream,
        .correlation = ++issued,
    };
    c.host_start_ns = (int64_t)issued * 10;
    c.host_end_ns = c.host_start_ns + 2;
    must(sl_timeline_add_call(tl, &c, &err), &err);
    return issued;
}

TAP_UNUSED static void note(sl_timeline *tl, uint32_t id, const char *name, bool non_blocking)
{
    sl_error err;
    sl_stream_note n = { .id = id, .name = text_id(tl, name), .non_blocking = non_blocking };
    must(sl_timeline_add_stream(tl, &n, &err), &err);
}

/* Selections of one thing. */
TAP_UNUSED static sl_selection engine(int e)
{
    sl_selection s = sl_select_all;
    s.engine = e;
    return s;
}

TAP_UNUSED static sl_selection kind(int k)
{
    sl_selection s = sl_select_all;
    s.kind = k;
    return s;
}

TAP_UNUSED static sl_selection stream(int64_t id)
{
    sl_selection s = sl_select_all;
    s.stream = id;
    return s;
}

/* How often a text has `what` in it, counting none within another. */
TAP_UNUSED static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

TAP_UNUSED static void finish(sl_timeline *tl)
{
    sl_timeline_finish(tl, 0, (int64_t)(issued + 1) * 10);
}

#endif
