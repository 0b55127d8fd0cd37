/* t-79-picture.c - what pictures share: colours that can be told apart, arrows from the
 * work that an event stands for to the work that waited, and what held the host.
 */
#include "make.h"
#include "../../core/timeline/picture.h"

#include <stdlib.h>

/* ---- colours ------------------------------------------------------------------- */

/* CIE L* of "#rrggbb", 0 to 100. */
static double lightness(const char *colour)
{
    static const double share[3] = { 0.2126, 0.7152, 0.0722 };
    double luminance = 0;
    for (int i = 0; i < 3; i++) {
        char digits[3] = { colour[1 + 2 * i], colour[2 + 2 * i], '\0' };
        double c = (double)strtol(digits, NULL, 16) / 255;
        luminance += share[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return luminance > 0.008856 ? 116 * cbrt(luminance) - 16 : 903.3 * luminance;
}

/* The least difference between the fills of two kinds. */
static double least_step(bool dark)
{
    double least = 100;
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        for (int j = 0; j < i; j++) {
            const sl__paint *a = dark ? &sl__looks[i].dark : &sl__looks[i].light;
            const sl__paint *b = dark ? &sl__looks[j].dark : &sl__looks[j].light;
            least = fmin(least, fabs(lightness(a->fill) - lightness(b->fill)));
        }
    }
    return least;
}

static void test_colours(void)
{
    double ink = 100;
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        const sl__look *look = &sl__looks[i];
        ink = fmin(ink, fabs(lightness(look->light.ink) - lightness(look->light.fill)));
        ink = fmin(ink, fabs(lightness(look->dark.ink) - lightness(look->dark.fill)));
    }
    ok(least_step(false) > 6.5, "no two kinds are equally light on white (%.1f)",
       least_step(false));
    ok(least_step(true) > 4.5, "nor on black (%.1f)", least_step(true));
    ok(ink > 45, "and text can be read on all of them (%.1f)", ink);
}

/* ---- arrows --------------------------------------------------------------------- */

static sl__arrows find(const sl_timeline *tl, sl__arrow_kind kind, size_t max)
{
    sl__arrows arrows;
    sl_error err;
    must(sl__arrows_find(tl, kind, INT64_MIN / 4, INT64_MAX / 4, max, &arrows, &err), &err);
    return arrows;
}

static void is_arrow(const sl__arrows *arrows, size_t i, uint64_t from, uint64_t to,
                     int64_t held_ns, const char *name)
{
    bool there = i < arrows->n;
    if (!ok(there && arrows->at[i].from == from && arrows->at[i].to == to &&
            arrows->at[i].held_ns == held_ns, "%s", name) && there)
        diag("%d of %d: from %d to %d held %d", (int)i, (int)arrows->n, (int)arrows->at[i].from,
             (int)arrows->at[i].to, (int)arrows->at[i].held_ns);
}

/* The host's calls are issued at 10, 20, ... The second kernel could have started when it
 * was issued, at 40, and waited until 100; the third one when the second ended, at 150. */
static void test_event(void)
{
    sl_timeline *tl = make();
    uint64_t first = kernel(tl, 1, 12, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    uint64_t second = kernel(tl, 2, 100, 150);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    uint64_t third = kernel(tl, 2, 150, 160);
    call(tl, SL_CALL_STREAM_WAIT, 1, record, 1);
    kernel(tl, 1, 170, 180);
    call(tl, SL_CALL_STREAM_WAIT, 2, 99, 1);
    kernel(tl, 2, 190, 200);
    finish(tl);
    sl__arrows arrows = find(tl, SL__ARROW_EVENT, 9);
    is_int(arrows.n, 2, "a stream's own event and an unknown one have no arrow");
    is_arrow(&arrows, 0, first, second, 60, "work that an event held back");
    is_arrow(&arrows, 1, first, third, 0, "work that came later anyway");
    ok(arrows.n == 2 && arrows.at[0].from_ns == 100 && arrows.at[0].to_ns == 100 &&
       arrows.at[1].from_ns == 100 && arrows.at[1].to_ns == 150 && arrows.at[1].wait == 5 &&
       arrows.at[1].from_stream == 1 && arrows.at[1].to_stream == 2,
       "from the end of the one to the start of the other");
    sl__arrows_free(&arrows);
    arrows = find(tl, SL__ARROW_EVENT, 1);
    is_arrow(&arrows, 0, first, second, 60, "of too many the longest waits are kept");
    is_int(arrows.n_left_out, 1, "and the others counted");
    sl__arrows_free(&arrows);
    sl_error err;
    must(sl__arrows_find(tl, SL__ARROW_EVENT, 101, 200, 9, &arrows, &err), &err);
    is_int(arrows.n, 0, "an arrow that begins before the range is not in it");
    sl__arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* Stream 2 does nothing but wait for stream 1 and tell stream 3. */
static void test_chain(void)
{
    sl_timeline *tl = make();
    uint64_t first = kernel(tl, 1, 12, 100);
    uint64_t one = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, one, 1);
    uint64_t two = call(tl, SL_CALL_EVENT_RECORD, 2, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, two, 2);
    call(tl, SL_CALL_STREAM_WAIT, 3, one, 1);
    uint64_t last = kernel(tl, 3, 100, 110);
    finish(tl);
    sl__arrows arrows = find(tl, SL__ARROW_EVENT, 9);
    is_int(arrows.n, 1, "one arrow, however often the same work is waited for");
    is_arrow(&arrows, 0, first, last, 30, "an event that is passed on leads back to the work");
    sl__arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* A record in the NULL stream comes after the work of all blocking streams. */
static void test_null_stream(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "blocking", false);
    note(tl, 2, "free", true);
    note(tl, 3, "waits", true);
    uint64_t blocking = kernel(tl, 1, 5, 100);
    kernel(tl, 2, 5, 120);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, record, 0);
    uint64_t last = kernel(tl, 3, 100, 110);
    finish(tl);
    sl__arrows arrows = find(tl, SL__ARROW_EVENT, 9);
    is_arrow(&arrows, 0, blocking, last, 50, "an event of the NULL stream stands for the others'");
    is_int(arrows.n, 1, "but not for the non-blocking ones");
    sl__arrows_free(&arrows);
    sl_timeline_release(tl);
}

static uint64_t long_call(sl_timeline *tl, sl_call_kind kind, uint32_t stream, uint64_t target,
                          int64_t start_ns, int64_t end_ns)
{
    sl_error err;
    sl_call c = { .kind = (uint8_t)kind, .stream = stream, .target = target,
                  .correlation = ++issued, .host_start_ns = start_ns, .host_end_ns = end_ns };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    return issued;
}

static void test_host_waits(void)
{
    sl_timeline *tl = make();
    uint64_t first = kernel(tl, 1, 5, 100), second = kernel(tl, 2, 5, 200);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    uint64_t event = long_call(tl, SL_CALL_EVENT_SYNC, 0, record, 50, 101);
    long_call(tl, SL_CALL_STREAM_SYNC, 1, 0, 110, 111);
    uint64_t stream = long_call(tl, SL_CALL_STREAM_SYNC, 2, 0, 120, 203);
    uint64_t third = kernel(tl, 1, 210, 300);
    uint64_t device = long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 205, 302);
    finish(tl);
    sl__arrows arrows = find(tl, SL__ARROW_HOST, 9);
    is_int(arrows.n, 3, "a synchronisation that had nothing to wait for has no arrow");
    is_arrow(&arrows, 0, first, event, 50, "the host waited for an event");
    is_arrow(&arrows, 1, second, stream, 80, "for a stream");
    is_arrow(&arrows, 2, third, device, 95, "and for the device");
    sl__arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* ---- the host -------------------------------------------------------------------- */

static void flagged(sl_timeline *tl, sl_span_kind kind, uint8_t flags, int64_t host_end_ns)
{
    sl_error err;
    issued++;
    sl_span s = { .kind = (uint8_t)kind, .correlation = issued, .flags = flags,
                  .host_start_ns = (int64_t)issued * 100, .host_end_ns = host_end_ns };
    s.start_ns = s.host_start_ns + 20;
    s.end_ns = s.start_ns + 50;
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

static void test_held(void)
{
    sl_timeline *tl = make();
    sl_error err;
    flagged(tl, SL_SPAN_MEMCPY_H2D, SL_SPAN_SRC_PAGEABLE, 160);         /* 100: feeds it */
    flagged(tl, SL_SPAN_MEMCPY_H2D, SL_SPAN_SRC_PAGEABLE, 205);         /* staged at once */
    flagged(tl, SL_SPAN_MEMCPY_D2H, SL_SPAN_DST_PINNED, 330);           /* pinned */
    flagged(tl, SL_SPAN_MEMCPY_D2H, SL_SPAN_HOST_WAITED, 470);          /* waited */
    flagged(tl, SL_SPAN_KERNEL, SL_SPAN_QUEUE_FULL, 590);
    call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    sl_call c = { .kind = SL_CALL_PLAIN, .correlation = ++issued, .host_start_ns = 20,
                  .host_end_ns = 90, .name = text_id(tl, "cudaFree"), .waited_for_device = true };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    long_call(tl, SL_CALL_HOST_WORK, 0, 0, 700, 800);
    long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 800, 900);
    finish(tl);
    sl__held_list list;
    must(sl__held_find(tl, &list, &err), &err);
    static const struct { int64_t start_ns; int by; const char *name, *brief; } want[] = {
        { 20, SL__HELD_WAIT, "cudaFree", "cudaFree" }, { 100, SL__HELD_COPY, "copy H2D", "H2D" },
        { 400, SL__HELD_COPY, "copy D2H", "D2H" }, { 500, SL__HELD_QUEUE, "kernel", "kernel" },
        { 700, SL__HELD_WORK, "host work", "work" },
        { 800, SL__HELD_WAIT, "device synchronize", "sync" }
    };
    size_t n = sizeof want / sizeof *want;
    is_int(list.n, n, "what returned at once does not hold the host");
    for (size_t i = 0; i < n && i < list.n; i++) {
        ok(list.at[i].start_ns == want[i].start_ns && list.at[i].by == want[i].by,
           "%s holds the host", want[i].name);
        is_str(sl__held_name(tl, &list.at[i], false), want[i].name, "and is called so");
        is_str(sl__held_name(tl, &list.at[i], true), want[i].brief, "or so");
    }
    sl__held_free(&list);
    sl_timeline_release(tl);
}

/* Such a timeline can be made, if not recorded. */
static void test_later_record(void)
{
    sl_timeline *tl = make();
    kernel(tl, 2, 100, 200);
    call(tl, SL_CALL_STREAM_WAIT, 1, issued + 2, 2);
    call(tl, SL_CALL_EVENT_RECORD, 2, 0, 0);
    kernel(tl, 1, 300, 400);
    finish(tl);
    sl__arrows arrows = find(tl, SL__ARROW_EVENT, 10);
    is_int(arrows.n, 0, "a record that comes after the wait stands for nothing");
    sl__arrows_free(&arrows);
    sl_timeline_release(tl);
}

static void test_empty(void)
{
    sl_timeline *tl = make();
    sl__held_list list;
    sl_error err;
    finish(tl);
    sl__arrows arrows = find(tl, SL__ARROW_EVENT, 9);
    must(sl__held_find(tl, &list, &err), &err);
    ok(arrows.n == 0 && list.n == 0, "an empty timeline has neither");
    sl__arrows_free(&arrows);
    sl__held_free(&list);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(39);
    test_colours();
    test_event();
    test_chain();
    test_null_stream();
    test_host_waits();
    test_held();
    test_later_record();
    test_empty();
    return done_testing();
}
