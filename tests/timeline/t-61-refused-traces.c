/* t-61-refused-traces.c - what is no trace is refused in a sentence, and what is cut or nested costs
 * no more than another one. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "foreign.h"

static void refused(const char *text, const char *part, const char *what)
{
    sl_error err = { 0 };
    sl_timeline *tl = parse_bytes(text, strlen(text), &err);
    ok(!tl && err.status == SL_EINVAL && strstr(err.msg, part), "%s is refused: %s", what, err.msg);
    sl_timeline_release(tl);
}

#define ONE(members) "[{\"ph\":\"M\"},{" KERNEL "\"name\":\"k\"," members "}]"

static void test_refusals(void)
{
    refused(ONE("\"ts\":\"now\",\"dur\":1"), "event 2 (\"k\"): its \"ts\" is the text \"now\"",
            "text for a time");
    refused(ONE("\"ts\":NaN,\"dur\":1"), "its \"ts\" is NaN", "NaN");
    refused(ONE("\"ts\":5,\"dur\":-3"), "its \"dur\" is -3, not 0 or more", "a negative duration");
    refused(ONE("\"dur\":1"), "it has no \"ts\"", "a missing time");
    refused(ONE("\"ts\":5"), "it has no \"dur\"", "a missing duration");
    refused(ONE("\"ts\":1e30,\"dur\":1"), "its \"ts\" is 1e30", "a time beyond reason");
    refused(ONE("\"ts\":1e,\"dur\":1"), "its \"ts\" is 1e,", "half a number");
    refused(ONE("\"ts\":1,\"dur\":1,\"args\":{\"stream\":\"compute\"}"),
            "its \"stream\" is the text \"compute\"", "text for a stream, without a row,");
    refused(ONE("\"ts\":1,\"dur\":1,\"args\":{\"stream\":-2}"),
            "its \"stream\" is -2, not a stream's number", "a stream below 0");
    refused(ONE("\"ts\":1,\"dur\":1,\"tid\":-2"), "it is in no stream that can be",
            "a row below 0");
    refused(ONE("\"ts\":1,\"dur\":1,\"args\":{\"stream\" 1}"), "where ':' should be",
            "args that are no JSON");
    refused("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\x1B[31m\",\"dur\":1}]", "a?[31m",
            "a name with control characters");
    refused("[{" KERNEL "\"ts\":-2e15,\"dur\":1},{" KERNEL "\"ts\":2e15,\"dur\":1}]",
            "73 years apart", "a trace of a century");
    refused("{\"traceEvents\":[]}",
            "no GPU events (cat kernel, gpu_memcpy or gpu_memset); "
            "PyTorch's profiler records them with ProfilerActivity.CUDA",
            "a trace without GPU");
    refused("{\"a\":1}", "no \"traceEvents\"", "JSON of another kind");
    refused("{\"traceEvents\":[],\"traceEvents\":[]}", "twice", "two lists of events");
    refused("[1]", "at byte 2 there is '1' where an object should be", "a list of numbers");
    refused("{\"traceEvents\":5}", "a list should be", "a number for events");
    refused("[] x", "something follows after its end, at byte 4", "a file that goes on");
    refused("[{\"ph\" 1}]", "':' should be", "a member without value");
    refused("[{\"a\":[1}]", "']' should be", "a bracket of the wrong kind");
    refused("[{\"a\":@}]", "there is '@' where a value should be", "a stray character");
    refused("[", "it ends after byte 1,", "half a list");
    refused("[{\"a\":\"b", "inside a text that begins at byte 7", "half a text");
    refused("[{\"a\":[1,", "inside a list that begins at byte 7", "half a nested list");
    refused("[{\"a\":\"\\", "inside a text", "half an escape");
    refused("{\"deviceProperties\":[{\"id\" 1}],\"traceEvents\":[]}",
            "at byte 28 there is '1' where ':' should be", "a header that is no JSON");
}

static void test_resources(const char *args, int registers, int64_t shared_bytes, const char *what)
{
    sl_error err;
    char text[256];
    snprintf(text, sizeof text, ONE("\"ts\":1,\"dur\":1,\"args\":{%s}"), args);
    sl_timeline *tl = parse_bytes(text, strlen(text), &err);
    ok(tl && span_at(tl, 0)->registers == registers && span_at(tl, 0)->shared_bytes == shared_bytes,
       "%s", what);
    sl_timeline_release(tl);
}

static void test_known_resources(void)
{
    test_resources("\"registers per thread\":65535,\"shared memory\":4294967295", 65535, UINT32_MAX,
                   "the most registers and shared memory that can be noted");
    test_resources("\"shared memory\":4096", 0, 0, "shared memory without registers is not known");
    test_resources("\"registers per thread\":0,\"shared memory\":4096", 0, 0,
                   "nor is it beside none");
    test_resources("\"registers per thread\":65536,\"shared memory\":4096", 0, 0,
                   "more registers than can be noted are not known");
    test_resources("\"registers per thread\":32,\"shared memory\":4294967296", 0, 0,
                   "nor is either with more shared memory");
}

static void test_nesting(void)
{
    size_t n = 100000;
    sl_error err = { 0 };
    char *deep = malloc(n + 6);
    if (!deep) return;
    memcpy(deep, "{\"a\":", 5);
    memset(deep + 5, '[', n);
    ok(!parse_bytes(deep, n + 5, &err) && strstr(err.msg, "nested more than 512 deep"),
       "a hundred thousand brackets are refused: %s", err.msg);
    free(deep);
}

/* A text of nothing but escapes costs no more than another one. */
static void test_escapes(void)
{
    enum { ESCAPES = 1 << 21 };
    static const char head[] = "[{" K7 "\"name\":\"k\",\"ts\":1,\"dur\":2,\"why\":\"";
    sl_error err;
    char *text = malloc(sizeof head + 2 * ESCAPES + 4), *at = text;
    at = memcpy(at, head, sizeof head - 1);
    at += sizeof head - 1;
    for (int i = 0; i < ESCAPES; i++, at += 2)
        memcpy(at, "\\n", 2);
    memcpy(at, "\"}]", 4);
    sl_timeline *tl = parse_bytes(text, strlen(text), &err);
    is_int(tl ? (int)span_count(tl) : 0, 1, "two million escapes in a text are passed over");
    sl_timeline_release(tl);
    is_int(parse_bytes(text, strlen(text) - 3, &err) == NULL, 1, "also where its end is missing");
    free(text);
}

/* Nothing is read behind the end of a trace that is cut: it is refused, or has what came before. */
static void test_truncation(void)
{
    char *text = contents("tests/fuzz/corpus/own.json");
    size_t n = text ? strlen(text) : 0, refusals = 0, cut = 0, more = 0, last = 0;
    while (n > 0 && text[n - 1] == '\n')
        n--;
    sl_error err;
    for (size_t i = 0; i < n; i++) {
        sl_timeline *tl = parse_bytes(text, i, &err);
        size_t spans = tl ? span_count(tl) : 0;
        refusals += !tl && strstr(err.msg, i > 0 ? "it ends after byte" : "it is empty");
        cut += tl && strstr(doubt_sentence(tl, SL_DOUBT_CUT_OFF), "it ends after byte");
        more += spans < last;
        last = spans;
        sl_timeline_release(tl);
    }
    is_int(refusals + cut, n, "a trace that is cut anywhere is refused as such, or read as such");
    ok(refusals > 0 && cut > 0, "%zu times refused, %zu times read", refusals, cut);
    is_int(more, 0, "what is cut later has no fewer operations");
    free(text);
}

int main(void)
{
    plan(0);
    test_known_resources();
    test_refusals();
    test_nesting();
    test_escapes();
    test_truncation();
    return done_testing();
}
