/* t-79-picture.c - what pictures share: colours that can be told apart, arrows from the
 * work that an event stands for to the work that waited, the host's calls, and what of a
 * timeline of any length fits a chart and a picture.
 */
#include "make.h"
#include "../../core/pictures/report_page.h"

#include <stdlib.h>

/* ---- colours ------------------------------------------------------------------- */

/* How colours are seen is computed from the colours in the source.
 *   sRGB to linear: IEC 61966-2-1. Contrast: WCAG 2.1, (Y + 0.05) / (Y' + 0.05), of which
 *   graphics need 3. Colour blindness: Machado, Oliveira, Fernandes 2009, "A Physiologically-
 *   based Model for Simulation of Color Vision Deficiency", severity 1, on linear RGB. Difference:
 *   CIEDE2000 (Sharma, Wu, Dalal 2005) of CIE Lab, white D65. */
typedef struct three {
    double at[3];
} three;

enum { NORMAL, PROTAN, DEUTAN, TRITAN, VISIONS };
static const char *const vision_names[VISIONS] = { "all", "protan", "deutan", "tritan" };
static const double visions[VISIONS][3][3] = {
    { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
    { { 0.152286, 1.052583, -0.204868 },
      { 0.114503, 0.786281, 0.099216 },
      { -0.003882, -0.048116, 1.051998 } },
    { { 0.367322, 0.860646, -0.227968 },
      { 0.280085, 0.672501, 0.047413 },
      { -0.011820, 0.042940, 0.968881 } },
    { { 1.255528, -0.076749, -0.178779 },
      { -0.078411, 0.930809, 0.147602 },
      { 0.004733, 0.691367, 0.303900 } },
};

static three times(const double matrix[3][3], three v)
{
    three out;
    for (int i = 0; i < 3; i++)
        out.at[i] = matrix[i][0] * v.at[0] + matrix[i][1] * v.at[1] + matrix[i][2] * v.at[2];
    return out;
}

/* Linear RGB of "#rrggbb". */
static three linear(const char *colour)
{
    three out;
    for (int i = 0; i < 3; i++) {
        char digits[3] = { colour[1 + 2 * i], colour[2 + 2 * i], '\0' };
        double c = (double)strtol(digits, NULL, 16) / 255;
        out.at[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    return out;
}

/* What is beyond the screen's colours is cut, as a screen does. */
static three seen(const char *colour, int vision)
{
    three out = times(visions[vision], linear(colour));
    for (int i = 0; i < 3; i++)
        out.at[i] = fmin(1, fmax(0, out.at[i]));
    return out;
}

static double luminance(const char *colour)
{
    three c = linear(colour);
    return 0.2126 * c.at[0] + 0.7152 * c.at[1] + 0.0722 * c.at[2];
}

static double contrast(const char *one, const char *other)
{
    double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
    return fmax(a, b) / fmin(a, b);
}

static double lab_curve(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static three lab_of(three rgb)
{
    static const double to_xyz[3][3] = {
        { 0.4124564, 0.3575761, 0.1804375 },
        { 0.2126729, 0.7151522, 0.0721750 },
        { 0.0193339, 0.1191920, 0.9503041 },
    };
    three xyz = times(to_xyz, rgb);
    double x = lab_curve(xyz.at[0] / 0.95047), y = lab_curve(xyz.at[1]);
    double z = lab_curve(xyz.at[2] / 1.08883);
    return (three){ { 116 * y - 16, 500 * (x - y), 200 * (y - z) } };
}

static double degrees(double radians) { return radians * 180 / acos(-1); }
static double radians(double degrees) { return degrees * acos(-1) / 180; }

/* 0 to 360. */
static double hue_of(double a, double b)
{
    double hue = a == 0 && b == 0 ? 0 : degrees(atan2(b, a));
    return hue < 0 ? hue + 360 : hue;
}

static double mean_hue(double h1, double h2, bool grey)
{
    if (grey) return h1 + h2;
    if (fabs(h1 - h2) <= 180) return (h1 + h2) / 2;
    return (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2;
}

static double ciede2000(three one, three other)
{
    double chroma = (hypot(one.at[1], one.at[2]) + hypot(other.at[1], other.at[2])) / 2;
    double g = 0.5 * (1 - sqrt(pow(chroma, 7) / (pow(chroma, 7) + pow(25, 7))));
    double a1 = one.at[1] * (1 + g), a2 = other.at[1] * (1 + g);
    double c1 = hypot(a1, one.at[2]), c2 = hypot(a2, other.at[2]);
    double h1 = hue_of(a1, one.at[2]), h2 = hue_of(a2, other.at[2]);
    bool grey = c1 * c2 == 0;
    double turn = grey ? 0 : h2 - h1;
    turn += turn > 180 ? -360 : turn < -180 ? 360 : 0;
    double l = (one.at[0] + other.at[0]) / 2, c = (c1 + c2) / 2, h = mean_hue(h1, h2, grey);
    double t = 1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
               + 0.32 * cos(radians(3 * h + 6)) - 0.20 * cos(radians(4 * h - 63));
    double dl = (other.at[0] - one.at[0])
                / (1 + 0.015 * (l - 50) * (l - 50) / sqrt(20 + (l - 50) * (l - 50)));
    double dc = (c2 - c1) / (1 + 0.045 * c);
    double dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * c * t);
    double rotation = -2 * sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)))
                      * sin(radians(60 * exp(-pow((h - 275) / 25, 2))));
    return sqrt(dl * dl + dc * dc + dh * dh + rotation * dc * dh);
}

/* Pairs of the paper by Sharma and others. */
static void test_formulas(void)
{
    static const struct {
        three one, other;
        double want;
    } pairs[] = {
        { { { 50, 2.6772, -79.7751 } }, { { 50, 0, -82.7485 } }, 2.0425 },
        { { { 50, -1, 2 } }, { { 50, 0, 0 } }, 2.3669 },
        { { { 50, 2.5, 0 } }, { { 73, 25, -18 } }, 27.1492 },
        { { { 50, 2.5, 0 } }, { { 58, 24, 15 } }, 19.4535 },
        { { { 2.0776, 0.0795, -1.1350 } }, { { 0.9033, -0.0636, -0.5514 } }, 0.9082 },
    };
    double most = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        most = fmax(most, fabs(ciede2000(pairs[i].one, pairs[i].other) - pairs[i].want));
    ok(most < 0.0001, "CIEDE2000 gives what was published (%.5f)", most);
    ok(fabs(contrast("#777777", "#ffffff") - 4.48) < 0.005, "so does contrast");
}

/* Of the kinds, and behind them of the host's calls. */
static const sl_look *look(int i)
{
    return i < SL_SPAN_KINDS ? &sl_looks[i] : &sl_host_looks[i - SL_SPAN_KINDS];
}

enum { LOOKS = SL_SPAN_KINDS + SL_HOST_LOOKS };

static const sl_paint *paint(int i, bool dark) { return dark ? &look(i)->dark : &look(i)->light; }

static double lightness(const char *colour) { return lab_of(linear(colour)).at[0]; }

/* The least difference between the fills of two kinds, printed in grey. */
static double least_step(bool dark)
{
    double least = 100;
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        for (int j = 0; j < i; j++)
            least = fmin(least,
                         fabs(lightness(paint(i, dark)->fill) - lightness(paint(j, dark)->fill)));
    }
    return least;
}

static void test_apart(bool dark, int vision)
{
    double least = 1000;
    int one = 0, other = 0;
    for (int i = 0; i < LOOKS; i++) {
        for (int j = 0; j < i; j++) {
            double d = ciede2000(lab_of(seen(paint(i, dark)->fill, vision)),
                                 lab_of(seen(paint(j, dark)->fill, vision)));
            one = d < least ? i : one;
            other = d < least ? j : other;
            least = fmin(least, d);
        }
    }
    ok(least >= 12, "%s, %s: any two colours differ by 12 at least (%s and %s: %.1f)",
       dark ? "dark" : "light", vision_names[vision], look(one)->label, look(other)->label, least);
}

/* --paper of the page's style sheet: the light one, then the dark one. */
static const char *paper(bool dark)
{
    for (const sl__page_file *file = sl__page_files; file->name; file++) {
        if (!strstr(file->name, "report.css")) continue;
        const char *at = strstr(file->data, "--paper: ");
        at = dark ? strstr(at + 1, "--paper: ") : at;
        return at + strlen("--paper: ");
    }
    return "#000000";
}

static void test_contrast(bool dark)
{
    /* Those of pages and tracks are in bindings/pictures/pen.lua, and in 48-places.t.lua. */
    const char *const pages[] = {
        dark ? "#16191d" : "#ffffff",
        dark ? "#1e2227" : "#f4f5f7",
        paper(dark),
    };
    double least = 100, ink = 100;
    int worst = 0;
    for (int i = 0; i < LOOKS; i++) {
        for (int k = 0; k < 3; k++) {
            double c = fmin(contrast(paint(i, dark)->fill, pages[k]),
                            contrast(paint(i, dark)->edge, pages[k]));
            worst = c < least ? i : worst;
            least = fmin(least, c);
        }
        const char *below = i == SL_SPAN_KINDS + SL_HOST_WAITS ? pages[0] : paint(i, dark)->fill;
        ink = fmin(ink, contrast(paint(i, dark)->ink, below));
    }
    ok(least >= 3, "%s: bars and their edges stand out from the page by 3 (%s: %.2f)",
       dark ? "dark" : "light", look(worst)->label, least);
    ok(ink >= 4.5, "and text on them can be read (%.2f)", ink);
}

static void test_colours(void)
{
    for (int dark = 0; dark < 2; dark++) {
        for (int vision = 0; vision < VISIONS; vision++)
            test_apart(dark, vision);
        test_contrast(dark);
    }
    ok(least_step(false) > 6.5, "no two kinds are equally light on white (%.1f)",
       least_step(false));
    ok(least_step(true) > 4.5, "nor on black (%.1f)", least_step(true));
}

/* ---- arrows --------------------------------------------------------------------- */

static sl_arrows find(const sl_timeline *tl, sl_arrow_kind kind, size_t max)
{
    sl_arrows arrows;
    sl_error err;
    must(sl_arrows_find(tl, kind, INT64_MIN / 4, INT64_MAX / 4, max, &arrows, &err), &err);
    return arrows;
}

static void is_arrow(const sl_arrows *arrows, size_t i, uint64_t from, uint64_t to, int64_t held_ns,
                     const char *name)
{
    bool there = i < arrows->n;
    if (!ok(there && arrows->at[i].from == from && arrows->at[i].to == to
                && arrows->at[i].held_ns == held_ns,
            "%s", name)
        && there)
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
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    is_int(arrows.n, 2, "a stream's own event and an unknown one have no arrow");
    is_arrow(&arrows, 0, first, second, 60, "work that an event held back");
    is_arrow(&arrows, 1, first, third, 0, "work that came later anyway");
    ok(arrows.n == 2 && arrows.at[0].from_ns == 100 && arrows.at[0].to_ns == 100
           && arrows.at[1].from_ns == 100 && arrows.at[1].to_ns == 150 && arrows.at[1].wait == 5
           && arrows.at[1].from_stream == 1 && arrows.at[1].to_stream == 2,
       "from the end of the one to the start of the other");
    sl_arrows_free(&arrows);
    arrows = find(tl, SL_ARROW_EVENT, 1);
    is_arrow(&arrows, 0, first, second, 60, "of too many the longest waits are kept");
    is_int(arrows.n_left_out, 1, "and the others counted");
    sl_arrows_free(&arrows);
    sl_error err;
    must(sl_arrows_find(tl, SL_ARROW_EVENT, 101, 200, 9, &arrows, &err), &err);
    is_int(arrows.n, 0, "an arrow that begins before the range is not in it");
    sl_arrows_free(&arrows);
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
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    is_int(arrows.n, 1, "one arrow, however often the same work is waited for");
    is_arrow(&arrows, 0, first, last, 30, "an event that is passed on leads back to the work");
    sl_arrows_free(&arrows);
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
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    is_arrow(&arrows, 0, blocking, last, 50, "an event of the NULL stream stands for the others'");
    is_int(arrows.n, 1, "but not for the non-blocking ones");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

static uint64_t long_call(sl_timeline *tl, sl_call_kind kind, uint32_t stream, uint64_t target,
                          int64_t start_ns, int64_t end_ns)
{
    sl_error err;
    sl_call c = {
        .kind = (uint8_t)kind,
        .stream = stream,
        .target = target,
        .correlation = ++issued,
        .host_start_ns = start_ns,
        .host_end_ns = end_ns,
    };
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
    sl_arrows arrows = find(tl, SL_ARROW_HOST, 9);
    is_int(arrows.n, 3, "a synchronisation that had nothing to wait for has no arrow");
    is_arrow(&arrows, 0, first, event, 50, "the host waited for an event");
    is_arrow(&arrows, 1, second, stream, 80, "for a stream");
    is_arrow(&arrows, 2, third, device, 95, "and for the device");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* Each device has a NULL stream, which stands for its own blocking streams only.
 *   GPU 0, stream 1, blocking       K 5..100
 *   GPU 1, stream 1, blocking       K 5..120
 *   GPU 1, stream 2, non-blocking   K 5..140
 * The host synchronises each NULL stream, then GPU 0; a stream of GPU 0 waits for a record in the NULL
 * stream of GPU 1. */
static void test_null_streams(void)
{
    sl_timeline *tl = make();
    sl_error err;
    int place;
    sl_timeline_set_device(tl, &(sl_device_info){ .backend = "sim" });
    must(
        sl_timeline_add_device(tl, &(sl_device_info){ .backend = "sim", .index = 1 }, &place, &err),
        &err);
    const uint32_t null_1 = sl_timeline_stream_id(1, 0), free_1 = sl_timeline_stream_id(1, 2);
    note(tl, 3, "waits", true);
    note(tl, free_1, "free", true);
    uint64_t k0 = kernel(tl, 1, 5, 100), k1 = kernel(tl, sl_timeline_stream_id(1, 1), 5, 120);
    kernel(tl, free_1, 5, 140);
    uint64_t null_0 = long_call(tl, SL_CALL_STREAM_SYNC, 0, 0, 60, 150);
    uint64_t null = long_call(tl, SL_CALL_STREAM_SYNC, null_1, 0, 70, 150);
    uint64_t device = long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 80, 150);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, null_1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 3, record, null_1);
    uint64_t last = kernel(tl, 3, 160, 170);
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_HOST, 9);
    is_arrow(&arrows, 0, k0, null_0, 40, "the host waited for the first device's blocking streams");
    is_arrow(&arrows, 1, k1, null, 50, "by its NULL stream for the second one's");
    is_arrow(&arrows, 2, k0, device, 20, "and for a device, for nothing of the other");
    sl_arrows_free(&arrows);
    arrows = find(tl, SL_ARROW_EVENT, 9);
    is_arrow(&arrows, 0, k1, last, 30,
             "a record in the second NULL stream stands for its device's");
    is_int(arrows.n, 1, "blocking streams, and no others");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

/* ---- the host -------------------------------------------------------------------- */

static void flagged(sl_timeline *tl, sl_span_kind kind, uint8_t flags, int64_t host_end_ns)
{
    sl_error err;
    issued++;
    sl_span s = {
        .kind = (uint8_t)kind,
        .correlation = issued,
        .flags = flags,
        .host_start_ns = (int64_t)issued * 100,
        .host_end_ns = host_end_ns,
    };
    s.start_ns = s.host_start_ns + 20;
    s.end_ns = s.start_ns + 50;
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

static void test_held(void)
{
    sl_timeline *tl = make();
    sl_error err;
    flagged(tl, SL_SPAN_MEMCPY_H2D, SL_SPAN_SRC_PAGEABLE, 160); /* 100: feeds it */
    flagged(tl, SL_SPAN_MEMCPY_H2D, SL_SPAN_SRC_PAGEABLE, 205); /* staged at once */
    flagged(tl, SL_SPAN_MEMCPY_D2H, SL_SPAN_DST_PINNED, 330);   /* pinned */
    flagged(tl, SL_SPAN_MEMCPY_D2H, SL_SPAN_HOST_WAITED, 470);  /* waited */
    flagged(tl, SL_SPAN_KERNEL, SL_SPAN_QUEUE_FULL, 590);
    call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    sl_call c = {
        .kind = SL_CALL_PLAIN,
        .correlation = ++issued,
        .host_start_ns = 20,
        .host_end_ns = 90,
        .name = text_id(tl, "cudaFree"),
        .waited_for_device = true,
    };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    long_call(tl, SL_CALL_HOST_WORK, 0, 0, 700, 800);
    long_call(tl, SL_CALL_HOST_WORK, 0, 0, 650, 650); /* took no time */
    long_call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 800, 900);
    c = (sl_call){ .kind = SL_CALL_PLAIN,
                   .correlation = ++issued,
                   .host_start_ns = 950,
                   .host_end_ns = 990,
                   .name = text_id(tl, "cudaMalloc") };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    finish(tl);
    sl_host_calls list;
    must(sl_host_calls_find(tl, &list, &err), &err);
    static const struct {
        int64_t start_ns;
        int does;
        const char *name, *brief;
    } want[] = {
        { 20, SL_DOES_WAIT, "cudaFree", "cudaFree" },
        { 60, SL_DOES_ISSUE, "event record", "record" },
        { 100, SL_DOES_COPY, "copy H2D", "H2D" },
        { 200, SL_DOES_ISSUE, "copy H2D", "H2D" },
        { 300, SL_DOES_ISSUE, "copy D2H", "D2H" },
        { 400, SL_DOES_COPY, "copy D2H", "D2H" },
        { 500, SL_DOES_QUEUE, "kernel", "kernel" },
        { 700, SL_DOES_WORK, "host work", "work" },
        { 800, SL_DOES_WAIT, "device synchronize", "sync" },
        { 950, SL_DOES_CALL, "cudaMalloc", "cudaMalloc" },
    };
    size_t n = sizeof want / sizeof *want;
    is_int(list.n, n, "all calls that take time are there, also launches");
    for (size_t i = 0; i < n && i < list.n; i++) {
        ok(list.at[i].start_ns == want[i].start_ns && list.at[i].does == want[i].does,
           "what the host does in %s", want[i].name);
        is_str(sl_host_call_name(tl, &list.at[i], false), want[i].name, "is called so");
        is_str(sl_host_call_name(tl, &list.at[i], true), want[i].brief, "or so");
    }
    sl_host_calls_free(&list);
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
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 10);
    is_int(arrows.n, 0, "a record that comes after the wait stands for nothing");
    sl_arrows_free(&arrows);
    sl_timeline_release(tl);
}

static void test_empty(void)
{
    sl_timeline *tl = make();
    sl_host_calls list;
    sl_error err;
    finish(tl);
    sl_arrows arrows = find(tl, SL_ARROW_EVENT, 9);
    must(sl_host_calls_find(tl, &list, &err), &err);
    ok(arrows.n == 0 && list.n == 0, "an empty timeline has neither");
    sl_arrows_free(&arrows);
    sl_host_calls_free(&list);
    sl_timeline_release(tl);
}

/* ---- layouts -------------------------------------------------------------------- */

static const int64_t far_ns = (INT64_C(1) << 61) - 1;

/* 400 times the longest span there can be: what they take of a cell adds up beyond 64 bits. */
static sl_timeline *huge(void)
{
    sl_timeline *tl = make();
    for (int i = 0; i < 400; i++)
        kernel(tl, 1, -far_ns, far_ns);
    finish(tl);
    return tl;
}

static void test_huge(void)
{
    enum { CELLS = 21 };
    sl_timeline *tl = huge();
    sl_grid grid;
    sl_picture picture;
    sl_error err;
    const sl_scale scale = { -far_ns, far_ns, 1000 * SL_PX };
    must(sl_grid_open(tl, SL_ROWS_STREAMS, &grid, &err), &err);
    must(sl_grid_fill(&grid, -far_ns, far_ns, CELLS, 32, &err), &err);
    int full = 0;
    for (int i = 0; i < CELLS; i++)
        full += sl_cell_kind(&grid.cells[i]) == SL_SPAN_KERNEL && sl_cell_part(&grid, 0, i, 8) == 8;
    is_int(full, CELLS, "146 years of kernels above each other are full cells");
    ok(grid.cells[0].begins && !grid.cells[1].begins, "in the first of which others begin");
    sl_grid_close(&grid);
    must(sl_picture_open(tl, SL_ROWS_ENGINES, &picture, &err), &err);
    must(sl_picture_fill(&picture, &scale, 100, 3000, &err), &err);
    ok(picture.n == 1 && picture.at[0].n_lanes == 16 && picture.at[0].n_bars == 400,
       "in a picture they are bars in all lanes that there are");
    const sl_bar *bar = &picture.bars.at[picture.at[0].first_bar];
    ok(bar->x == 0 && bar->width == scale.width && bar->crowded, "from edge to edge");
    sl_picture_close(&picture);
    sl_timeline_release(tl);
}

/* 300,000 operations in 150 streams, each with gaps that would show; the later streams are busier. */
static void test_many(void)
{
    sl_timeline *tl = make();
    sl_picture picture;
    sl_error err;
    int lane;
    for (int i = 0; i < 300000; i++)
        span(tl, (uint32_t)(i % 150), i % 7 == 0 ? SL_SPAN_MEMCPY_D2H : SL_SPAN_KERNEL,
             (int64_t)i * 100, (int64_t)i * 100 + 3000 + i % 150);
    finish(tl);
    const sl_scale scale = { 0, 30000000, 1000 * SL_PX };
    must(sl_picture_open(tl, SL_ROWS_STREAMS, &picture, &err), &err);
    is_int(picture.n_ids, 150, "a picture knows all streams");
    must(sl_picture_fill(&picture, &scale, 100, 3000, &err), &err);
    ok(picture.n == 100 && picture.n_left_out == 50 && picture.at[0].id == 50,
       "and has rows for the busiest, in order of their ids");
    ok(picture.bars.n > 100 && picture.bars.n < 10000, "with bars that can be seen");
    size_t n = 0;
    for (size_t i = 0; i < picture.at[7].n_bars; i++)
        n += picture.bars.at[picture.at[7].first_bar + i].n;
    is_int(n, 2000, "which have all operations of the row");
    ok(sl_picture_find(&picture, 50 + 1, &lane) == &picture.at[0] && lane == 0,
       "an operation is in its row");
    ok(!sl_picture_find(&picture, 49 + 1, &lane) && !sl_picture_find(&picture, 999999, &lane),
       "or in none");
    sl_picture_close(&picture);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_huge();
    test_many();
    test_formulas();
    test_colours();
    test_event();
    test_chain();
    test_null_stream();
    test_host_waits();
    test_null_streams();
    test_held();
    test_later_record();
    test_empty();
    return done_testing();
}
