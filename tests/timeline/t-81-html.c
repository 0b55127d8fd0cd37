/* t-81-html.c - the report: one file that needs nothing else, whole or not at all. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "make.h"
#include "../../core/pictures/columns.h"

#include <sys/stat.h>

/* The page of a timeline; the caller frees it. */
static char *page_of(const sl_timeline *tl)
{
    sl_error err;
    const char *path = in_directory("page.html");
    must(sl_timeline_save_html(tl, path, NULL, &err), &err);
    char *page = contents(path);
    unlink(path);
    return page;
}

/* A kernel, a copy that waits for its event, and the host that waits for both. */
static sl_timeline *example(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "compute", false);
    note(tl, 2, "copies", true);
    kernel(tl, 1, 1000, 5000);
    uint64_t event = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 2, event, 1);
    span(tl, 2, SL_SPAN_MEMCPY_D2H, 5200, 9000);
    call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 0);
    finish(tl);
    return tl;
}

/* ---- ranges of the host --------------------------------------------------------- */

static void add_ranges(sl_timeline *tl, int n, int64_t from_ns, int64_t length_ns)
{
    sl_error err;
    uint32_t name;
    must(sl_timeline_intern(tl, "range", &name, &err), &err);
    for (int i = 0; i < n; i++) {
        const sl_host_range range = { .start_ns = from_ns,
                                      .end_ns = from_ns + length_ns,
                                      .name = name,
                                      .kind = SL_HOST_RANGE_NVTX };
        must(sl_timeline_add_host_range(tl, &range, &err), &err);
    }
}

/* One of 9 us, 200,000 of 8 us, and one of 1 us. */
static void the_longest_ranges(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "compute", false);
    kernel(tl, 1, 1000, 5000);
    add_ranges(tl, 1, 0, 9000);
    add_ranges(tl, 200000, 100, 8000);
    add_ranges(tl, 1, 200, 1000);
    finish(tl);
    char *page = page_of(tl);
    ok(strstr(page, "\"ranges\":{\"n\":200000,"), "a page has 200,000 ranges at most");
    ok(strstr(page, "\"rangesLeftOut\":2,"), "and says how many it leaves out");
    free(page);
    sl_timeline_release(tl);
}

/* ---- columns: worked out by hand ------------------------------------------------ */

static void a_column_is(const int64_t *values, int n, const char *want, const char *name)
{
    sl_error err;
    sl__outfile file;
    sl__column column;
    const char *path = in_directory("column");
    must(sl__outfile_open(path, &file, &err), &err);
    sl__column_begin(&column, &file);
    for (int i = 0; i < n; i++)
        sl__column_add(&column, values[i]);
    sl__column_end(&column);
    must(sl__outfile_close(&file, &err), &err);
    char *got = contents(path);
    is_str(got, want, "%s", name);
    free(got);
    unlink(path);
}

static void columns(void)
{
    a_column_is(NULL, 0, "", "an empty column is an empty text");
    a_column_is((int64_t[]){ 1 }, 1, "Ag==", "1 is the byte 02: up by one");
    a_column_is((int64_t[]){ 5, 3 }, 2, "CgM=", "5, 3 are 0a 03: up by five, down by two");
    a_column_is((int64_t[]){ 0, 0, 0 }, 3, "AAI=", "three equal neighbours are 00 02");
    a_column_is((int64_t[]){ 7, 7, 7, 8 }, 4, "DgABAg==", "a run ends where a value changes");
    a_column_is((int64_t[]){ 100, 0 }, 2,
                "yAHHAQ==", "100, 0 are c8 01, c7 01: groups of seven bits");
    a_column_is((int64_t[]){ SL__COLUMN_MAX }, 1,
                "/v///////x8=", "the greatest is 2^53 - 1: seven full groups and five bits");
    a_column_is((int64_t[]){ INT64_MAX, -5 }, 2,
                "/v///////x/9////////Hw==", "what lies beyond is cut to the greatest and to 0");
}

/* ---- the page --------------------------------------------------------------------- */

static void it_needs_nothing_else(void)
{
    sl_timeline *tl = example();
    char *page = page_of(tl);
    ok(strncmp(page, "<!DOCTYPE html>\n", 16) == 0, "the page begins as HTML");
    is_str(page + strlen(page) - 8, "</html>\n", "and ends as such");
    is_int(count(page, "http:") + count(page, "https:") + count(page, "//www"), 0,
           "no address of the network stands in it");
    is_int(count(page, "src=\"") + count(page, "@import") + count(page, "url("), 0,
           "nor of another file");
    is_int(count(page, "href="), 1, "but for one link");
    is_int(count(page, "<link rel=\"icon\" href=\"data:,\">"), 1, "to an icon that is none");
    is_int(count(page, "default-src 'none'"), 1, "its policy allows it nothing else");
    is_int(count(page, "require-trusted-types-for 'script'"), 1, "and no text as HTML");
    is_int(count(page, "{{") + count(page, "}}\n{"), 0, "no mark is left");
    is_int(count(page, "eval("), 0, "it evaluates no text");
    is_int(count(page, "innerHTML"), 0, "nor reads one as HTML");
    free(page);
    sl_timeline_release(tl);
}

static void it_has_the_figures(void)
{
    sl_timeline *tl = example();
    char *page = page_of(tl);
    ok(strstr(page, "\"makespan\":8000,"), "makespan: from 1000 to 9000 ns");
    ok(strstr(page, "\"wall\":60,"), "wall time: 6 calls of 10 ns");
    ok(strstr(page, "\"origin\":990,"), "the first call is 990 ns before the first span");
    ok(strstr(page, "\"serial\":7800,"), "4000 + 3800 ns one after the other");
    ok(strstr(page, "\"busiest\":4000,"), "the busiest engine has 4000 ns");
    ok(strstr(page, "\"lower\":7800,"), "the event makes a chain of both");
    ok(strstr(page, "{\"engine\":0,\"busy\":4000,\"kinds\":[{\"kind\":0,\"busy\":4000,"
                    "\"spans\":1}]}"),
       "compute was busy for 4000 ns with one kernel");
    ok(strstr(page, "{\"of\":[0,3],\"common\":0,\"shortest\":3800}"), "and never beside D2H");
    ok(strstr(page, "{\"engines\":[200,7800],\"kernels\":[0,4000]}"),
       "between them nothing ran for 200 ns; there was one kernel at most");
    ok(strstr(page, "{\"id\":2,\"name\":\"copies\",\"priority\":0,\"nonBlocking\":true}"),
       "the streams are there with their notes");
    ok(strstr(page, "\"spans\":{\"n\":2"), "there are two spans");
    ok(strstr(page, "\"calls\":{\"n\":3"), "and three calls");
    char kernels[64];
    snprintf(kernels, sizeof kernels, "--kernel: %s;", sl_looks[SL_SPAN_KERNEL].dark.fill);
    ok(strstr(page, kernels), "kernels have the colour that they have in other pictures");
    snprintf(kernels, sizeof kernels, "--wait: %s;", sl_host_looks[SL_HOST_WAITS].light.fill);
    ok(strstr(page, kernels), "so have the host's waits");
    ok(strstr(page,
              "\"spanCalls\":[\"cudaLaunchKernel\",\"cudaLaunchKernel\",\"cudaMemcpyAsync\","),
       "the calls that enqueue have names");
    free(page);
    sl_timeline_release(tl);
}

/* None of these may end the script that they stand in, or begin anything. */
static const char *const hostile[] = {
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>",
    "{{data}}",
    "\"};alert(1);//",
    "a\\u003cb",
    "\xE2\x80\xA8line",
    "bad \xFF utf-8",
    "tab\tand\nline",
    "&lt;b&gt;",
};

static void texts_are_harmless(void)
{
    enum { N = sizeof hostile / sizeof *hostile };
    sl_error err;
    sl_timeline *tl = make(), *plain = example();
    for (int i = 0; i < N; i++) {
        sl_span s = {
            .start_ns = i * 100,
            .end_ns = i * 100 + 50,
            .stream = 1,
            .correlation = ++issued,
            .name = text_id(tl, hostile[i]),
            .where = text_id(tl, hostile[(i + 1) % N]),
        };
        must(sl_timeline_add_span(tl, &s, &err), &err);
        must(sl_timeline_set_source(tl, s.where, hostile[(i + 2) % N], &err), &err);
    }
    note(tl, 1, hostile[0], false);
    sl_device_info info = { .backend = "</script>", .simulated = true };
    snprintf(info.name, sizeof info.name, "%s", hostile[0]);
    snprintf(info.profile, sizeof info.profile, "<b>");
    sl_timeline_set_device(tl, &info);
    finish(tl);
    char *page = page_of(tl), *usual = page_of(plain);
    is_int(count(page, "<script"), count(usual, "<script"), "no name begins a script");
    is_int(count(page, "</script"), count(usual, "</script"), "or ends one");
    is_int(count(page, "<!--"), 0, "or a comment");
    is_int(count(page, "<img"), 0, "or an element");
    ok(strstr(page, "\"\\u003c/script>\\u003cimg src=x onerror=alert(1)>\""),
       "it is there, escaped");
    ok(strstr(page, "\"{{data}}\""), "a mark in a name is a name");
    ok(strstr(page, "bad \xEF\xBF\xBD utf-8"), "what is no UTF-8 is replaced");
    ok(strstr(page, "tab\\tand\\nline"), "control characters are escaped");
    free(page);
    free(usual);
    sl_timeline_release(tl);
    sl_timeline_release(plain);
}

/* By the file that it was read from, else by the script, else by the device. */
static void pages_have_titles(void)
{
    sl_error err;
    sl_timeline *tl = make();
    finish(tl);
    char *page = page_of(tl);
    ok(strstr(page, "<title>Timeline</title>"), "a page of nothing is titled Timeline");
    free(page);
    sl_timeline_release(tl);
    tl = make();
    sl_device_info info = { .name = "GPU <1>", .backend = "sim", .simulated = true };
    sl_timeline_set_device(tl, &info);
    sl_call c = { .kind = SL_CALL_DEVICE_SYNC,
                  .correlation = 1,
                  .where = text_id(tl, "a&b.lua:12") };
    must(sl_timeline_add_call(tl, &c, &err), &err);
    finish(tl);
    page = page_of(tl);
    ok(strstr(page, "<title>a&amp;b.lua – GPU &lt;1&gt; (simulated)</title>"),
       "the script's name and the device's are the title");
    ok(strstr(page, "\"name\":\"a&b.lua\""), "the page has the name");
    free(page);
    must(sl_timeline_set_name(tl, "run.json.gz", &err), &err);
    page = page_of(tl);
    ok(strstr(page, "<title>run.json.gz – GPU"), "that of the file, if it was read from one");
    free(page);
    sl_timeline_release(tl);
}

static void equal_timelines_give_equal_pages(void)
{
    sl_timeline *tl = example(), *again = example();
    char *one = page_of(tl), *two = page_of(tl), *three = page_of(again);
    ok(strcmp(one, two) == 0, "saving twice gives the same bytes");
    ok(strcmp(one, three) == 0, "so does an equal timeline");
    ok(!strstr(one, directory), "the path is not in them");
    free(one);
    free(two);
    free(three);
    sl_timeline_release(tl);
    sl_timeline_release(again);
}

static void strange_timelines(void)
{
    sl_timeline *tl = make();
    finish(tl);
    char *page = page_of(tl);
    ok(strstr(page, "\"spans\":{\"n\":0,"), "an empty timeline has a page");
    ok(strstr(page, "\"findings\":[]"), "without findings");
    free(page);
    sl_timeline_release(tl);

    tl = make();
    kernel(tl, 0, 7, 7);
    finish(tl);
    page = page_of(tl);
    ok(strstr(page, "\"makespan\":0,"), "so has one span of no length");
    free(page);
    sl_timeline_release(tl);

    tl = make();
    kernel(tl, 4000000000u, -(INT64_C(1) << 60), -(INT64_C(1) << 60) + 1);
    kernel(tl, 3, (INT64_C(1) << 60), (INT64_C(1) << 60) + 1);
    finish(tl);
    page = page_of(tl);
    ok(strstr(page, "\"makespan\":2305843009213693953,"), "and spans 73 years apart");
    ok(strstr(page, "{\"id\":4000000000,\"name\":\"\""), "in streams of any number");
    free(page);
    sl_timeline_release(tl);
}

static void failing_to_write(void)
{
    sl_error err;
    sl_timeline *tl = example();
    const char *nowhere = in_directory("no/such/page.html");
    is_int(sl_timeline_save_html(tl, nowhere, NULL, &err), SL_EIO, "a missing folder is SL_EIO");
    ok(strstr(err.msg, nowhere), "and the path is named");
    is_int(sl_timeline_save_html(tl, directory, NULL, &err), SL_EIO, "so is a folder as the path");
    is_int(sl_timeline_save_html(tl, "/dev/null", NULL, &err), SL_OK, "a device is written to");
    if (access("/dev/full", W_OK) == 0)
        is_int(sl_timeline_save_html(tl, "/dev/full", NULL, &err), SL_EIO, "a full one is SL_EIO");
    else
        skip(1, "there is no /dev/full here");
    is_int(files_in_directory(), 0, "no temporary file stays");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    make_directory();
    columns();
    it_needs_nothing_else();
    it_has_the_figures();
    the_longest_ranges();
    texts_are_harmless();
    pages_have_titles();
    equal_timelines_give_equal_pages();
    strange_timelines();
    failing_to_write();
    rmdir(directory);
    return done_testing();
}
