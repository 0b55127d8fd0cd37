/* t-80-svg.c - the picture: well-formed, in its place to the hundredth of a pixel, whole
 * for any timeline, and the same every time.
 *
 * At 700 pixels the names take 16 + 27 + 10 (of "host", the widest here) and the percents
 * 40 + 16, which leaves 591 from 53 on: timelines of 591 ns have a pixel a nanosecond. The
 * rows begin at 75; they are 26 high and 7 apart, 12 if there are arrows. The edges of bars
 * take 0.4 at each side. If calls of the host are in the range, their row of 15 is above the
 * others.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "make.h"

#include <ctype.h>

static char path[64];

/* The picture as text; the caller frees it. */
static char *picture(const sl_timeline *tl, const sl_picture_options *options)
{
    sl_error err;
    must(sl_timeline_save_svg(tl, path, options, &err), &err);
    return contents(path);
}

static const sl_picture_options plain = { .width_px = 700, .theme = SL_THEME_LIGHT };

static bool has(const char *text, const char *what) { return strstr(text, what) != NULL; }

/* ---- a small XML checker: NULL, or what is wrong --------------------------------- */

#define MAX_DEPTH 32

typedef struct reader {
    const char *at;
    struct {
        const char *name;
        size_t n;
    } open[MAX_DEPTH];
    int depth, elements;
} reader;

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '-' || at[n] == ':' || at[n] == '_')
        n++;
    return isalpha((unsigned char)*at) ? n : 0;
}

/* XML 1.0's characters, in well-formed UTF-8. */
static bool read_character(reader *r)
{
    const unsigned char *b = (const unsigned char *)r->at;
    int n = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
    uint32_t c = n == 1 ? b[0] : n == 2 ? b[0] & 31u : n == 3 ? b[0] & 15u : b[0] & 7u;
    for (int i = 1; i < n; i++) {
        if (b[i] >> 6 != 2) return false;
        c = c << 6 | (b[i] & 63u);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    r->at += n;
    return n > 0 && c >= least[n] && (c >= 0x20 || c == '\n') && c != 0x7F && c <= 0x10FFFF
           && !(c >= 0xD800 && c <= 0xDFFF) && c != 0xFFFE && c != 0xFFFF;
}

static const char *read_text(reader *r, const char *end)
{
    static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
    while (*r->at && !strchr(end, *r->at)) {
        size_t n = 0;
        for (int i = 0; i < 5 && *r->at == '&'; i++)
            n = strncmp(r->at, entities[i], strlen(entities[i])) == 0 ? strlen(entities[i]) : n;
        if (*r->at == '&' && n == 0) return "a bare &";
        if (n > 0)
            r->at += n;
        else if (!read_character(r))
            return "a character that XML does not have";
    }
    return NULL;
}

static const char *read_attributes(reader *r)
{
    while (*r->at == ' ') {
        size_t n = name_length(++r->at);
        if (n == 0 || strncmp(r->at + n, "=\"", 2) != 0)
            return "an attribute without a name or a value";
        for (const char *other = r->at + n + 2; *other != '>' && *other; other++) {
            if (*other == ' ' && strncmp(other + 1, r->at, n + 2) == 0) return "an attribute twice";
        }
        r->at += n + 2;
        const char *wrong = read_text(r, "\"<");
        if (wrong || *r->at++ != '"') return wrong ? wrong : "a value without end";
    }
    return NULL;
}

static const char *read_tag(reader *r)
{
    bool closing = r->at[1] == '/';
    r->at += 1 + closing;
    size_t n = name_length(r->at);
    const char *name = r->at;
    if (n == 0) return "a tag without a name";
    r->at += n;
    if (closing) {
        bool match = r->depth > 0 && r->open[r->depth - 1].n == n
                     && strncmp(r->open[r->depth - 1].name, name, n) == 0;
        r->depth--;
        return match && *r->at++ == '>' ? NULL : "an end that does not match";
    }
    const char *wrong = read_attributes(r);
    r->elements++;
    if (wrong) return wrong;
    if (strncmp(r->at, "/>", 2) == 0) {
        r->at += 2;
        return NULL;
    }
    if (*r->at++ != '>' || r->depth == MAX_DEPTH) return "a tag without end, or too deep";
    r->open[r->depth].name = name;
    r->open[r->depth++].n = n;
    return NULL;
}

static const char *xml_fault(const char *text)
{
    static const char prolog[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    reader r = { .at = text };
    if (strncmp(text, prolog, sizeof prolog - 1) != 0) return "no prolog";
    r.at += sizeof prolog - 1;
    do {
        const char *wrong = *r.at == '<' ? read_tag(&r) : read_text(&r, "<");
        if (wrong) return wrong;
    } while (r.depth > 0 && *r.at);
    return r.depth != 0 || strcmp(r.at, "\n") != 0 ? "more than one element, or less" : NULL;
}

static void is_picture(const char *text, const char *name)
{
    const char *wrong = text ? xml_fault(text) : "no file";
    ok(!wrong, "%s is well-formed XML", name);
    if (wrong) diag("  %s", wrong);
}

/* ---- places ----------------------------------------------------------------------- */

static sl_timeline *two_streams(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    note(tl, 2, "bb", false);
    kernel(tl, 1, 1000, 1100);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 1100, 1300);
    kernel(tl, 1, 1291, 1591);
    finish(tl);
    return tl;
}

/* a: 400 of 591 ns. bb: 200 of 591. A step of 100 leaves a label of three digits and six
 * blanks room on 98 columns of 6 ns each; one of 50 would not. */
static void test_places(void)
{
    sl_timeline *tl = two_streams();
    char *text = picture(tl, &plain);
    is_picture(text, "a picture of two streams");
    ok(has(text, "width=\"700\"") && has(text, "viewBox=\"0 0 700 "), "as wide as asked for");
    ok(has(text, "<rect x=\"53.4\" y=\"75.4\" width=\"99.2\" height=\"25.2\"><title>kernel\n"
                 "stream: a\nstarts at 0 ns, takes 100 ns</title></rect>"),
       "the first kernel");
    ok(has(text, "<rect x=\"153.4\" y=\"108.4\" width=\"199.2\" height=\"25.2\"><title>memcpy_h2d\n"
                 "stream: bb\nstarts at 100 ns, takes 200 ns</title>"),
       "the copy, a row below");
    ok(has(text, "<rect x=\"344.4\" y=\"75.4\" width=\"299.2\" height=\"25.2\">"),
       "the second kernel, up to the right edge");
    ok(has(text, ">68%</text>") && has(text, ">34%</text>"), "how busy the rows are");
    ok(has(text, "d=\"M53 75v66M153 75v66M253 75v66M353 75v66M453 75v66M553 75v66\""),
       "a line every 100 ns");
    ok(has(text, "middle\">0</text>") && has(text, "middle\">400</text>")
           && has(text, "middle\">500 ns</text>"),
       "and its figure, the last one with the unit");
    ok(has(text, ">kernel</text>") && has(text, ">copy H2D</text>") && !has(text, "copy D2H"),
       "the legend has what occurs");
    ok(has(text, ">makespan 591 ns</text>") && has(text, ">lower bound 400 ns</text>")
           && has(text, ">makespan / bound 1.48</text>"),
       "the title has the bound");
    free(text);
    sl_timeline_release(tl);
}

static void test_range(void)
{
    sl_timeline *tl = two_streams();
    sl_picture_options options = plain;
    options.from_ns = 295;
    options.to_ns = 591; /* 296 ns on 591 pixels: 5 ns are 9.98 */
    char *text = picture(tl, &options);
    is_picture(text, "a part of it");
    ok(has(text, "<rect x=\"53.4\" y=\"75.4\" width=\"590.2\" height=\"25.2\">"),
       "what begins before it begins at its edge");
    ok(has(text, "<rect x=\"53.4\" y=\"108.4\" width=\"9.18\" height=\"25.2\">"),
       "what ends within it ends there");
    ok(has(text, ">shown: 295 to 591 ns</text>"), "the title says which part");
    ok(has(text, ">100%</text>") && has(text, ">2%</text>"), "and the percents are the part's");
    free(text);
    options.from_ns = 150;
    options.to_ns = 200;
    text = picture(tl, &options);
    ok(!has(text, "starts at 0 ns") && !has(text, "starts at 291 ns") && has(text, ">0%</text>"),
       "what lies outside is not there, but its row is");
    free(text);
    sl_timeline_release(tl);
}

/* Three kernels of one engine, two at a time: lanes of 17, from 75 + 15 + 7 on. The third fits
 * into the first. */
static void test_lanes(void)
{
    sl_timeline *tl = make();
    sl_picture_options options = plain;
    options.rows = SL_ROWS_ENGINES;
    kernel(tl, 1, 0, 200);
    kernel(tl, 2, 100, 591);
    kernel(tl, 3, 200, 300);
    finish(tl);
    char *text = picture(tl, &options);
    is_picture(text, "a picture of engines");
    ok(count(text, " y=\"97.4\"") == 2 && count(text, " y=\"114.4\"") == 1
           && count(text, " height=\"15.2\"") == 3,
       "has what overlaps in lanes below each other");
    ok(has(text, ">compute</text>") && has(text, ">100%</text>"), "in one row");
    free(text);
    sl_timeline_release(tl);
}

/* ---- arrows ------------------------------------------------------------------------ */

static sl_timeline *with_event(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    note(tl, 2, "bb", false);
    kernel(tl, 1, 0, 100);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);
    kernel(tl, 2, 110, 591);
    finish(tl);
    return tl;
}

/* From the first row's bottom, 75 + 15 + 12 + 26, to the second row's top, 12 below. The second
 * kernel was issued at 40. */
static void test_arrow(void)
{
    sl_timeline *tl = with_event();
    char *text = picture(tl, &plain);
    is_picture(text, "a picture with an arrow");
    ok(has(text, "<path d=\"M153 128C153 134 163 134 163 140m-2.5 -4.5l2.5 4.5l2.5 -4.5\"><title>"
                 "bb waits for an event of a\nfor 60 ns</title></path>"),
       "from the end of the work to the start of what waited");
    sl_picture_options options = plain;
    options.rows = SL_ROWS_ENGINES;
    char *engines = picture(tl, &options);
    ok(!has(engines, "waits for an event"), "within a row there is none");
    free(engines);
    ok(has(text, ">waited for event</text>"), "the legend explains it");
    free(text);
    options.rows = SL_ROWS_STREAMS;
    options.no_arrows = true;
    text = picture(tl, &options);
    ok(!has(text, "waits for an event") && !has(text, "waited for event"), "or none are wanted");
    free(text);
    sl_timeline_release(tl);
}

/* A row of 15 for the host above the others, 12 apart: theirs begin at 102. */
static void test_host(void)
{
    sl_timeline *tl = make();
    sl_error err;
    uint32_t where = text_id(tl, "a.lua:7");
    note(tl, 1, "a", false);
    kernel(tl, 1, 0, 591);
    sl_call c = {
        .kind = SL_CALL_DEVICE_SYNC,
        .correlation = ++issued,
        .host_start_ns = 91,
        .host_end_ns = 591,
        .where = where,
    };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    c = (sl_call){
        .kind = SL_CALL_HOST_WORK, .correlation = ++issued, .host_start_ns = 41, .host_end_ns = 91
    };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    sl_timeline_finish(tl, 0, 600);
    must(sl_timeline_set_source(tl, where, "  lab.synchronize()", &err), &err);
    char *text = picture(tl, &plain);
    is_picture(text, "a picture with the host");
    ok(has(text, "y=\"75.4\" width=\"499.2\" height=\"14.2\"><title>device synchronize: the host "
                 "waits for the device\nstarts at 91 ns, takes 500 ns\n"
                 "a.lua:7: lab.synchronize()</title>"),
       "a call that waits, and its line");
    ok(has(text, "y=\"75.4\" width=\"49.2\" height=\"14.2\"><title>host work: "),
       "and the host's work");
    ok(has(text, "width=\"2\" height=\"15\"><title>kernel: the host issues work\n"),
       "and a launch of 2 ns: a host that launches is not idle");
    ok(has(text, ">host waits</text>") && has(text, ">host’s own work</text>")
           && has(text, ">host call</text>"),
       "with their legend");
    ok(has(text, "url(#streamlab-held)\" stroke=\"#543b39\""), "what waits is hatched");
    ok(has(text, "<desc>What ran when: a row for each stream, from left to right in time, above "
                 "them the host's calls. Makespan 591 ns, lower bound 591 ns. Busy: a 100 %; the "
                 "host in its calls 93 %.</desc>"),
       "and the picture is described in words");
    ok(has(text, "y=\"97.4\" width=\"590.2\" height=\"25.2\">"), "the stream's row is below");
    free(text);
    sl_timeline_release(tl);
}

/* ---- many, short, long --------------------------------------------------------------- */

/* 1000 kernels of 10 ns every 20 ns in a fiftieth of the time: 5.91 pixels wide, half of
 * them busy. Then nothing until the end. */
static void test_merging(void)
{
    sl_timeline *tl = make();
    for (int i = 0; i < 1000; i++)
        kernel(tl, 1, 20 * i, 20 * i + 10);
    span(tl, 1, SL_SPAN_MEMSET, 1000000, 1000000);
    finish(tl);
    char *text = picture(tl, &plain);
    is_picture(text, "a picture of what is too short to be seen");
    is_int(count(text, "</title></rect>"), 3, "has one bar for all, and one for their calls");
    ok(has(text, "<title>1001 calls: the host issues work\n"), "which says how many");
    ok(has(text, "fill-opacity=\"0.45\"><title>1000 × kernel\n"
                 "starts at 0 ms, takes 20.0 us, 10.0 us busy</title>"),
       "that says how many they are, and how busy");
    ok(has(text, ">several, with gaps</text>"), "and is lighter");
    ok(has(text, " width=\"1\" height=\"26\"><title>memset\n"), "what has no length has a pixel");
    free(text);
    sl_timeline_release(tl);
    tl = make();
    for (int i = 0; i < 50; i++)
        span(tl, 1, i % 5 ? SL_SPAN_KERNEL : SL_SPAN_MEMSET, i, i + 1);
    kernel(tl, 1, 500000, 1000000);
    finish(tl);
    text = picture(tl, &plain);
    ok(has(text, "<title>50 operations: 40 kernels, 10 memsets\n"), "so are different kinds");
    free(text);
    sl_timeline_release(tl);
}

/* 300,000 operations in 60 streams, each with gaps that would show. */
static void test_many(void)
{
    sl_timeline *tl = make();
    for (int i = 0; i < 300000; i++)
        span(tl, (uint32_t)(i % 60), i % 7 == 0 ? SL_SPAN_MEMCPY_D2H : SL_SPAN_KERNEL,
             (int64_t)i * 100, (int64_t)i * 100 + (i % 11) * 500);
    finish(tl);
    char *text = picture(tl, &plain);
    is_picture(text, "a picture of 300,000 operations");
    ok(strlen(text) < 1000000, "takes less than a megabyte");
    free(text);
    sl_timeline_release(tl);
    tl = make();
    for (uint32_t i = 0; i < 150; i++)
        kernel(tl, i, i, 591);
    finish(tl);
    text = picture(tl, &plain);
    ok(has(text, ">not shown: 50 more streams, none busier</text>"),
       "of 150 streams 100 are shown");
    ok(has(text, ">stream 99</text>") && !has(text, ">stream 100</text>"), "the busiest");
    free(text);
    sl_timeline_release(tl);
}

static void one_span(int64_t start_ns, int64_t end_ns, const char *name)
{
    sl_timeline *tl = make();
    kernel(tl, 1, start_ns, end_ns);
    finish(tl);
    char *text = picture(tl, &plain);
    is_picture(text, name);
    is_int(count(text, "<title>kernel\n"), 1, "and it is there");
    free(text);
    sl_timeline_release(tl);
}

static void test_empty(void)
{
    sl_timeline *tl = make();
    finish(tl);
    char *text = picture(tl, &plain);
    is_picture(text, "a picture of nothing");
    is_int(count(text, "The timeline is empty: nothing ran on the device."), 2,
           "and says so, also to those who do not see it");
    free(text);
    sl_timeline_release(tl);
}

/* ---- texts ---------------------------------------------------------------------------- */

static void test_escaping(void)
{
    static const char *const names[] = {
        "<script>alert(1)</script>",
        "a & b \"c\" 'd' ]]>",
        "tab\tand\nline\x01\x7F\x1B[31m",
        "\xFF\xC0\x80 \xED\xA0\x80 \xEF\xBF\xBE \xE2\x80\xAE",
        "größer 東京 🚀",
    };
    sl_timeline *tl = make();
    sl_error err;
    for (uint32_t i = 0; i < 5; i++) {
        note(tl, i + 1, names[i], false);
        sl_span s = {
            .start_ns = 0,
            .end_ns = 591,
            .correlation = ++issued,
            .stream = i + 1,
            .name = text_id(tl, names[i]),
            .where = text_id(tl, names[i]),
        };
        must(sl_timeline_add_span(tl, &s, &err), &err);
    }
    sl_device_info info = { .name = "<GPU> & \"co\"", .backend = "cuda" };
    sl_timeline_set_device(tl, &info);
    finish(tl);
    char *text = picture(tl, &plain);
    is_picture(text, "a picture of hostile names");
    ok(!has(text, "<script") && has(text, "&lt;script&gt;alert(1)&lt;/script&gt;"),
       "a tag is text");
    ok(has(text, "a &amp; b &quot;c&quot; &#39;d&#39; ]]&gt;"), "so are other signs");
    ok(has(text, "tab and line\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD[31m"),
       "control characters do not get through");
    ok(has(text, "größer 東京 🚀"), "letters of all languages do");
    ok(has(text, "<title>&lt;GPU&gt; &amp; &quot;co&quot;: makespan 591 ns</title>"),
       "the device's name, too");
    free(text);
    sl_timeline_release(tl);
}

static char *picture_of_kernel(const char *name, int width_px)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_picture_options options = plain;
    sl_span s = { .end_ns = 591, .correlation = 1, .stream = 1, .name = text_id(tl, name) };
    must(sl_timeline_add_span(tl, &s, &err), &err);
    finish(tl);
    options.width_px = width_px;
    char *text = picture(tl, &options);
    sl_timeline_release(tl);
    return text;
}

static void test_names(void)
{
    char *text = picture_of_kernel("void at::native::(anonymous namespace)::softmax<float, "
                                   "std::less<int> >(float*, int)",
                                   700);
    ok(has(text, "middle\">softmax</text>"), "a bar has the kernel's name without the C++ around");
    ok(has(text, "<title>void at::native::(anonymous namespace)::softmax&lt;float"),
       "its tooltip has all of it");
    free(text);
    text = picture_of_kernel("at::native::fill(int, (anonymous namespace)::T<3>)", 700);
    ok(has(text, "middle\">fill</text>"), "and nothing of its arguments");
    free(text);
    text = picture_of_kernel("void cutlass::Kernel2<cutlass_80_sgemm>(cutlass_80_sgemm::Params)",
                             700);
    ok(has(text, "middle\">Kernel2&lt;cutlass_80_sgemm&gt;</text>"),
       "and with what a template was given if that is one name");
    free(text);
    text = picture_of_kernel("a_kernel_with_a_name_that_is_too_long", 240);
    ok(has(text, ">a_kernel") && has(text, "…</text>"), "a name that does not fit is cut");
    free(text);
    char name[5000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    text = picture_of_kernel(name, 700);
    is_picture(text, "a picture of an endless name");
    ok(strlen(text) < 6000, "and does not repeat it");
    free(text);
}

static void test_tooltip(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_span s = {
        .end_ns = 80000,
        .correlation = 1,
        .stream = 3,
        .bytes = 4 << 20,
        .kind = SL_SPAN_MEMCPY_D2H,
        .engine = SL_ENGINE_D2H,
        .where = text_id(tl, "x.lua:3"),
    };
    must(sl_timeline_add_span(tl, &s, &err), &err);
    s = (sl_span){ .start_ns = 80000,
                   .end_ns = 90500,
                   .correlation = 2,
                   .stream = 3,
                   .name = text_id(tl, "matmul"),
                   .symbol = text_id(tl, "sgemm_128"),
                   .blocks = 64,
                   .threads = 256 };
    must(sl_timeline_add_span(tl, &s, &err), &err);
    finish(tl);
    char *text = picture(tl, &plain);
    ok(has(text, "<title>copy D2H\nstream: stream 3\nstarts at 0 us, takes 80.0 us\n"
                 "4 MiB, 52.4 GB/s\nx.lua:3</title>"),
       "a copy has its size and rate");
    ok(has(text, "middle\">D2H 4 MiB</text>"), "its bar has the size");
    ok(has(text, "<title>matmul\nsgemm_128\nstream: stream 3\nstarts at 80 us, takes 10.5 us\n"
                 "64 blocks of 256 threads</title>"),
       "a kernel has its grid");
    free(text);
    sl_timeline_release(tl);
}

/* ---- themes, options, files --------------------------------------------------------------- */

static void test_themes(void)
{
    sl_timeline *tl = with_event();
    sl_picture_options options = plain;
    char *light = picture(tl, &options);
    options.theme = SL_THEME_DARK;
    char *dark = picture(tl, &options);
    options.theme = SL_THEME_AUTO;
    char *automatic = picture(tl, &options);
    is_picture(dark, "a dark picture");
    is_picture(automatic, "one that follows the reader");
    ok(!has(light, "class=") && !has(light, "<style") && !has(dark, "class=")
           && !has(dark, "<style"),
       "a fixed theme needs no style sheet");
    ok(has(light, " fill=\"#ffffff\"/>") && has(dark, " fill=\"#16191d\"/>")
           && !has(dark, "#277849") && !has(light, "#6abb99"),
       "and has its own colours");
    ok(has(automatic, "@media (prefers-color-scheme: dark)") && has(automatic, " fill=\"#277849\"")
           && has(automatic, ".sl-kernel{fill:#6abb99}"),
       "the automatic one has both");
    ok(!has(automatic, "<script") && !has(automatic, "href") && count(automatic, "http") == 1,
       "nothing refers to anything else");
    free(light);
    free(dark);
    free(automatic);
    sl_timeline_release(tl);
}

static void refused(const sl_timeline *tl, const sl_picture_options *options, const char *what,
                    const char *name)
{
    sl_error err = { 0 };
    sl_status status = sl_timeline_save_svg(tl, path, options, &err);
    ok(status == SL_EINVAL && has(err.msg, what) && access(path, F_OK) != 0, "%s", name);
    if (status != SL_EINVAL || !has(err.msg, what)) diag("  %d: %s", status, err.msg);
}

static void test_options(void)
{
    sl_timeline *tl = two_streams();
    unlink(path);
    refused(tl, &(sl_picture_options){ .width_px = 199 }, "200 to 20000 pixels wide, not 199",
            "a picture can be too narrow");
    refused(tl, &(sl_picture_options){ .width_px = 20001 }, "not 20001", "or too wide");
    refused(tl, &(sl_picture_options){ .from_ns = -500 },
            "the range -0.5 to 0.591 us begins before 0", "a range cannot begin before the start");
    refused(tl, &(sl_picture_options){ .from_ns = 5, .to_ns = 5 }, "is empty", "or be empty");
    refused(tl, &(sl_picture_options){ .from_ns = 591 }, "lasts from 0 to 0.591 us",
            "or begin at the end");
    refused(tl, &(sl_picture_options){ .to_ns = INT64_MAX }, "is too long", "or be endless");
    refused(tl, &(sl_picture_options){ .rows = (sl_rows)2 }, "rows 2", "rows are checked");
    refused(tl, &(sl_picture_options){ .theme = (sl_theme)3 }, "theme 3", "and themes");
    static const int widths[] = { 200, 20000 };
    for (int i = 0; i < 2; i++) {
        char *text = picture(tl, &(sl_picture_options){ .width_px = widths[i] });
        is_picture(text, i ? "the widest one" : "the narrowest one");
        free(text);
    }
    unlink(path);
    sl_timeline_release(tl);
}

/* Hostile ones: a name whose every part is anonymous, 400 operations of 146 years at the
 * same time, whose lengths add up beyond 64 bits. */
static void test_hostile(void)
{
    enum { PARTS = 20000, SPANS = 400 };
    static const char part[] = "(anonymous namespace)::";
    const int64_t far = (INT64_C(1) << 61) - 1;
    size_t n = sizeof part - 1;
    char *name = malloc(PARTS * n + 3);
    for (size_t i = 0; i < PARTS; i++)
        memcpy(name + i * n, part, n);
    strcpy(name + PARTS * n, "f<");
    char *text = picture_of_kernel(name, 700);
    ok(has(text, ">f</text>"), "a name of many anonymous parts is short in its bar");
    free(text);
    free(name);
    sl_timeline *tl = make();
    for (int i = 0; i < SPANS; i++)
        kernel(tl, 1, -far, far);
    finish(tl);
    text = picture(tl, &plain);
    is_picture(text, "operations of 146 years above each other");
    free(text);
    sl_timeline_release(tl);
}

static void test_files(void)
{
    sl_timeline *tl = with_event();
    sl_error err = { 0 };
    char *one = picture(tl, &plain), *two = picture(tl, &plain);
    is_str(two, one, "the same timeline gives the same bytes");
    sl_status status = sl_timeline_save_svg(tl, "/tmp/no/such/folder/x.svg", &plain, &err);
    ok(status == SL_EIO && has(err.msg, "/tmp/no/such/folder/x.svg"),
       "a file that cannot be written is named");
    free(one);
    free(two);
    sl_timeline_release(tl);
}

int main(void)
{
    make_directory();
    snprintf(path, sizeof path, "%s/x.svg", directory);
    test_places();
    test_range();
    test_lanes();
    test_arrow();
    test_host();
    test_merging();
    test_many();
    one_span(0, 1, "a picture of a nanosecond");
    one_span(5, 5, "a picture of an instant");
    one_span(-(INT64_C(1) << 60), INT64_C(1) << 60, "a picture of 73 years");
    test_empty();
    test_escaping();
    test_names();
    test_tooltip();
    test_themes();
    test_options();
    test_hostile();
    test_files();
    unlink(path);
    rmdir(directory);
    return done_testing();
}
