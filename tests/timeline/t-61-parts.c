/* t-61-parts.c - traces that are read a part at a time: wherever a part ends, what is read is what
 * is read of the whole. */
#define _XOPEN_SOURCE 700 /* open_memstream */
#include "files.h"
#include "foreign.h"

#include <inttypes.h>

static void print_spans(FILE *to, const sl_timeline *tl)
{
    for (size_t i = 0; i < span_count(tl); i++) {
        sl_span s = sl_timeline_span(tl, i);
        fprintf(to, "%s %d %u: %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %u\n",
                sl_timeline_text(tl, s.name), s.kind, s.stream, s.start_ns, s.end_ns,
                s.host_start_ns, s.host_end_ns, s.bytes, s.blocks);
    }
}

static void print_calls(FILE *to, const sl_timeline *tl)
{
    for (size_t i = 0; i < call_count(tl); i++) {
        sl_call c = sl_timeline_call(tl, i);
        fprintf(to, "%s %d %u: %" PRId64 " %" PRId64 " %" PRIu64 "\n", sl_timeline_text(tl, c.name),
                c.kind, c.stream, c.host_start_ns, c.host_end_ns, c.target);
    }
}

/* What was read, or why nothing was, as a text that the caller frees. Releases the timeline. */
static char *outcome(sl_timeline *tl, const sl_error *err)
{
    char *text = NULL;
    size_t n_streams, n;
    if (!tl) return strdup(err->msg);
    FILE *to = open_memstream(&text, &n);
    print_spans(to, tl);
    print_calls(to, tl);
    const sl_stream_note *streams = sl_timeline_streams(tl, &n_streams);
    for (size_t i = 0; i < n_streams; i++)
        fprintf(to, "%u %s\n", streams[i].id, sl_timeline_text(tl, streams[i].name));
    fprintf(to, "%s %s\n", sl_timeline_device(tl)->name, sl_timeline_notice(tl));
    fclose(to);
    sl_timeline_release(tl);
    return text;
}

/* Parts of each size up to `most`: the first one ends behind each of these bytes. */
static size_t count_differences(const char *text, size_t n, size_t most)
{
    sl_error err;
    size_t differ = 0;
    sl_timeline *whole = parse_bytes(text, n, &err);
    char *wanted = outcome(whole, &err);
    for (size_t part = 1; part <= most; part++) {
        sl_timeline *tl = parse_parts(text, n, part, &err);
        char *got = outcome(tl, &err);
        bool same = strcmp(got, wanted) == 0;
        if (!same && differ == 0) diag("parts of %zu bytes: %.200s, not %.200s", part, got, wanted);
        differ += !same;
        free(got);
    }
    free(wanted);
    return differ;
}

static void test_borders(void)
{
    static const char *const names[] = { "own",         "own-graph", "pytorch",
                                         "graph-nodes", "bad-cut",   "bad-list" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "tests/fuzz/corpus/%s.json", names[i]);
        char *text = contents(path);
        size_t n = strlen(text), most = n < 3000 ? n : (size_t)sized(3000, 12000);
        is_int(count_differences(text, n, most), 0, "%s is the same in parts of 1 to %zu bytes",
               path, most);
        free(text);
    }
}

/* Each refusal says the same, positions included. */
static void test_refusals(void)
{
    static const char *const texts[] = {
        "",
        " ",
        "\xEF",
        "\xEF\xBB",
        "\xEF\xBB\xBF",
        "\xEF\xBB\xBF[",
        "x",
        "[1]",
        "[] x",
        "{\"traceEvents\":[]}",
        "{\"traceEvents\":[],\"traceEvents\":[]}",
        "{\"a\":1}",
        "{\"traceEvents\":5}",
        "[{\"ph\" 1}]",
        "[{\"a\":[1}]",
        "[{\"a\":@}]",
        "[{\"a\":\"b",
        "[{\"a\":[1,",
        "[{\"a\":\"\\",
        "{\"deviceProperties\":[{\"id\" 1}],\"traceEvents\":[]}",
        "{\"schemaVersion\":12",
        "{\"schemaVersion\":12 \"x\":1}",
        "[{" KERNEL "\"ts\":1,\"dur\":-1}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        is_int(count_differences(texts[i], strlen(texts[i]), strlen(texts[i]) + 1), 0,
               "%s is refused with the same words in parts", texts[i]);
}

/* Numbers, words and escapes that a border cuts. */
static void test_values(void)
{
    static const char text[] =
        "\xEF\xBB\xBF {\"schemaVersion\" : 100 , \"traceEvents\" : [ {" K7
        "\"name\":\"a\\\"b\\u00e9\\\\\",\"ts\":10.125,\"dur\":1e3,\"args\":{\"x\":[{},[true]]}} , ] ,"
        "\"deviceProperties\":[{\"id\":0,\"name\":\"H200\",\"numSms\":132}],\"last\":null} \n";
    is_int(count_differences(text, sizeof text - 1, sizeof text), 0,
           "values that a border cuts are whole");
    sl_error err;
    sl_timeline *tl = parse_parts(text, sizeof text - 1, 7, &err);
    is_int(span_at(tl, 0)->end_ns - span_at(tl, 0)->start_ns, 1000000, "a duration of 1e3 is 1 ms");
    is_str(sl_timeline_text(tl, span_at(tl, 0)->name), "a\"b\xC3\xA9\\", "with its name");
    is_int(sl_timeline_device(tl)->sm_count, 132, "and what stands behind the events");
    sl_timeline_release(tl);
}

/* An event that is larger than a part, and one that is larger than any may be. */
static void test_large_values(void)
{
    static const char head[] = "[{" K7 "\"ts\":1,\"dur\":2,\"name\":\"k\",\"why\":\"",
                      tail[] = "\"}]";
    size_t n = (size_t)65 << 20;
    sl_error err = { 0 };
    char *text = malloc(sizeof head + n + sizeof tail);
    memcpy(text, head, sizeof head - 1);
    memset(text + sizeof head - 1, 'x', n);
    memcpy(text + sizeof head - 1 + n, tail, sizeof tail);
    ok(!parse_parts(text, sizeof head - 1 + n + sizeof tail - 1, 0, &err)
           && strstr(err.msg, "the value at byte 2 has more than 64 MiB"),
       "an event of 65 MiB is refused: %s", err.msg);
    memcpy(text + sizeof head - 1 + (1 << 20), tail, sizeof tail);
    sl_timeline *tl = parse_parts(text, sizeof head - 1 + (1 << 20) + sizeof tail - 1, 0, &err);
    is_int(tl ? (int)span_count(tl) : 0, 1, "one of 1 MiB, that is larger than a part, is read");
    sl_timeline_release(tl);
    free(text);
}

/* 16 MiB of blanks, and a source that counts what is asked for. */
static sl_status read_blanks(void *ud, char *to, size_t room, size_t *n, sl_error *err)
{
    size_t *read = ud;
    (void)err;
    *n = *read < (size_t)16 << 20 ? room : 0;
    memset(to, ' ', *n);
    *read += *n;
    return SL_OK;
}

static void test_blanks(void)
{
    size_t read = 0;
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    sl__parts parts = { .read = read_blanks, .ud = &read };
    is_int(sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, &err), SL_EINVAL,
           "blanks are no trace: %s", err.msg);
    ok(read <= (size_t)1 << 20, "which is seen after %zu bytes of 16 MiB", read);
}

static sl_status fail_soon(void *ud, char *to, size_t room, size_t *n, sl_error *err)
{
    int *calls = ud;
    if (++*calls == 3) return sl_fail(err, SL_EIO, "cannot read 'x': the disk is gone");
    *n = 4;
    memcpy(to, *calls == 1 ? "[{}," : " {} ", room < 4 ? room : 4);
    return SL_OK;
}

static void test_failure(void)
{
    int calls = 0;
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    sl__parts parts = { .read = fail_soon, .ud = &calls };
    is_int(sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, &err), SL_EIO,
           "a text that cannot be read further is SL_EIO");
    is_str(err.msg, "cannot read 'x': the disk is gone", "with the reason");
}

int main(void)
{
    plan(0);
    test_borders();
    test_refusals();
    test_values();
    test_large_values();
    test_blanks();
    test_failure();
    return done_testing();
}
