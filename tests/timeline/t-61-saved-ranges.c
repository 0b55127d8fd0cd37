/* t-61-saved-ranges.c - ranges of the host in our own traces: what is written of each kind, and
 * that it comes back as it was. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "foreign.h"

/* The recording begins at 1000 ns.
 *
 *   us            1    2        10        20        30        40        50
 *   thread 0   |main 0.5 ...........................................................60|
 *                   |step 2 .......................................45|
 *                   |step 2, annotated ...........................45|
 *                        |module 10 ...................40|
 *                        |function 10 .................40|
 *                        |linear 10 ...........30|
 *                          |mm 12 .203 ........30|
 *                                  |started 20 ..................42| ended by itself
 *   thread 3        |backward 2 ..........................................50|        */
static const struct {
    const char *name;
    int64_t start_ns, end_ns;
    sl_host_range_kind kind;
    uint32_t thread;
    uint32_t node;
    bool is_backward;
} list[] = {
    { "train.py(3): main", 500, 60000, SL_HOST_RANGE_PYTHON, 0, 0, false },
    { "ProfilerStep#4", 2000, 45000, SL_HOST_RANGE_STEP, 0, 0, false },
    { "an \"annotation\"\n", 2000, 45000, SL_HOST_RANGE_ANNOTATION, 0, 0, false },
    { "Linear_0", 10000, 40000, SL_HOST_RANGE_MODULE, 0, 0, false },
    { "torch/nn/modules/linear.py(116): forward", 10000, 40000, SL_HOST_RANGE_LIBRARY, 0, 0,
      false },
    { "aten::linear", 10000, 30000, SL_HOST_RANGE_OPERATOR, 0, 6, false },
    { "aten::mm", 12203, 30000, SL_HOST_RANGE_OPERATOR, 0, 0, false },
    { "", 12203, 12203, SL_HOST_RANGE_OPERATOR, 0, 0, false },
    { "started", 20000, 42000, SL_HOST_RANGE_NVTX, 0, 0, false },
    { "nn.Module: marked so", 46000, 46001, SL_HOST_RANGE_NVTX, 0, 0, false },
    { "before", 100, 200, SL_HOST_RANGE_NVTX, 0, 0, false },
    { "autograd::backward", 2000, 50000, SL_HOST_RANGE_OPERATOR, 3, 0, true },
    { "of a thread without calls", 2000, 50000, SL_HOST_RANGE_NVTX, SL_MOST_THREADS - 1, 0, false },
};
enum { N = sizeof list / sizeof *list };

static sl_timeline *make_recording(bool with_ranges)
{
    sl_timeline *tl = make();
    note(tl, 0, "default", false);
    for (int i = 0; i < 3; i++)
        kernel(tl, 0, 20000 + i * 1000, 20900 + i * 1000);
    sl_error err;
    const sl_thread_note third = { .correlation = issued, .thread = 3 };
    must(sl_timeline_add_thread(tl, &third, &err), &err);
    for (int i = 0; with_ranges && i < N; i++) {
        const sl_host_range range = { .start_ns = list[i].start_ns,
                                      .end_ns = list[i].end_ns,
                                      .name = text_id(tl, list[i].name),
                                      .thread = list[i].thread,
                                      .node = list[i].node,
                                      .kind = (uint8_t)list[i].kind,
                                      .is_backward = list[i].is_backward };
        must(sl_timeline_add_host_range(tl, &range, &err), &err);
    }
    sl_timeline_finish(tl, 1000, 70000);
    return tl;
}

/* The caller frees the text. */
static char *saved(const sl_timeline *tl)
{
    sl_error err;
    must(sl_timeline_save_kineto(tl, in_directory("a.json"), &err), &err);
    return contents(in_directory("a.json"));
}

static sl_timeline *loaded(void)
{
    sl_error err;
    sl_timeline *tl = NULL;
    must(sl_timeline_load_kineto(in_directory("a.json"), SL_BUSIEST_DEVICE, &tl, &err), &err);
    return tl;
}

/* Ranges of both, counted from the start of the recording, that differ; more of one also count. */
static int64_t differences(const sl_timeline *a, const sl_timeline *b)
{
    const size_t n = sl_timeline_host_range_count(a), m = sl_timeline_host_range_count(b);
    const int64_t from_a = sl_timeline_host_start_ns(a), from_b = sl_timeline_host_start_ns(b);
    int64_t differ = n < m ? (int64_t)(m - n) : (int64_t)(n - m);
    for (size_t i = 0; i < n && i < m; i++) {
        const sl_host_range x = sl_timeline_host_range(a, i), y = sl_timeline_host_range(b, i);
        differ += x.kind != y.kind || x.thread != y.thread || x.node != y.node
                  || x.is_backward != y.is_backward || x.start_ns - from_a != y.start_ns - from_b
                  || x.end_ns - from_a != y.end_ns - from_b
                  || strcmp(sl_timeline_text(a, x.name), sl_timeline_text(b, y.name)) != 0;
    }
    return differ;
}

static void test_round_trip(void)
{
    sl_timeline *tl = make_recording(true);
    char *first = saved(tl);
    sl_timeline *back = loaded();
    is_int((int64_t)sl_timeline_host_range_count(back), N, "all ranges come back");
    is_int(differences(tl, back), 0, "with kind, thread, times, name and node");
    is_int((int64_t)span_count(back), 3, "beside the operations");
    is_str(sl_timeline_notice(back), "", "there is nothing to tell");
    char *second = saved(back);
    is_str(second, first, "saved again it is the same bytes");
    free(first);
    free(second);
    sl_timeline_release(tl);
    sl_timeline_release(back);
}

/* ---- what is written ---- */

/* The line of an event, in `line`. */
static const char *line_of(const char *text, const char *name, char line[400])
{
    char key[100];
    snprintf(key, sizeof key, "\"name\":\"%s\",\"pid\"", name);
    const char *at = strstr(text, key);
    line[0] = '\0';
    if (!at) return line;
    while (at > text && at[-1] != '\n')
        at--;
    snprintf(line, 400, "%.*s", (int)strcspn(at, "\n"), at);
    line[strlen(line) - (line[strlen(line) - 1] == ',')] = '\0';
    return line;
}

#define SLICE(cat, name, tid, ts, dur, args)                                            \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":4242,\"tid\":" tid \
    ",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"

static void test_events(void)
{
    char line[400];
    sl_timeline *tl = make_recording(true);
    char *text = saved(tl);
    is_str(line_of(text, "aten::linear", line),
           SLICE("cpu_op", "aten::linear", "1100000", "9.000", "20.000",
                 "\"range\":\"operator\",\"Sequence number\":5"),
           "an operator is a cpu_op, with the number of its node");
    is_str(line_of(text, "nn.Module: Linear_0", line),
           SLICE("python_function", "nn.Module: Linear_0", "1100000", "9.000", "30.000",
                 "\"range\":\"module\""),
           "a module has kineto's name and category");
    is_str(line_of(text, "ProfilerStep#4", line),
           SLICE("user_annotation", "ProfilerStep#4", "1100000", "1.000", "43.000",
                 "\"range\":\"step\""),
           "a step is a user_annotation");
    is_str(line_of(text, "autograd::backward", line),
           SLICE("cpu_op", "autograd::backward", "1100002", "1.000", "48.000",
                 "\"range\":\"operator\",\"thread\":3,\"Fwd thread id\":1"),
           "another thread has another row; one of the backward pass says so");
    is_str(line_of(text, "started", line),
           SLICE("user_annotation", "started", "1100001", "19.000", "22.000", "\"range\":\"nvtx\""),
           "what overlaps without nesting has a further one");
    is_str(line_of(text, "train.py(3): main", line),
           SLICE("python_function", "train.py(3): main", "1100000", "0.000", "59.000",
                 "\"range\":\"python\",\"own ts\":-0.500,\"own dur\":59.500"),
           "nothing is drawn before the recording begins");
    ok(strstr(text, "\"tid\":1100001,\"ts\":0,\"args\":{\"name\":\"ranges, 2\"}"),
       "rows of the first thread have no number");
    ok(strstr(text, "\"tid\":1100002,\"ts\":0,\"args\":{\"name\":\"ranges of thread 3\"}"),
       "those of others have theirs");
    free(text);
    sl_timeline_release(tl);
}

/* Leaves out the lines of rows of ranges. */
static void drop_ranges(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        const char *row = strstr(at, "\"tid\":11000");
        const bool is_range = row && row < at + n;
        if (!is_range) memmove(to, at, n);
        to += is_range ? 0 : n;
        at += n;
    }
    *to = '\0';
}

static void test_without(void)
{
    sl_timeline *with = make_recording(true), *without = make_recording(false);
    char *a = saved(with), *b = saved(without);
    ok(strcmp(a, b) != 0 && !strstr(b, "\"range\":"),
       "without ranges the file says nothing of them");
    drop_ranges(a);
    is_str(a, b, "and all else is the same bytes");
    free(a);
    free(b);
    sl_timeline_release(with);
    sl_timeline_release(without);
}

/* ---- many that overlap ---- */

enum { MANY = 3000 };

/* Slices of the first rows that reach over the end of one in which they start: the starts of a row
 * come in order. */
static int crossings(const char *text)
{
    enum { ROWS = 32 };
    static int64_t open_ns[MANY];
    int found = 0;
    for (int row = 0; row < ROWS; row++) {
        char key[40];
        int n = 0;
        snprintf(key, sizeof key, "\"tid\":%d,\"ts\":", 1100000 + row);
        for (const char *at = text; (at = strstr(at, key)) != NULL; at++) {
            double ts, dur;
            if (sscanf(at + strlen(key), "%lf,\"dur\":%lf", &ts, &dur) != 2) continue;
            const int64_t start_ns = (int64_t)(ts * 1000 + 0.5);
            const int64_t end_ns = start_ns + (int64_t)(dur * 1000 + 0.5);
            while (n > 0 && open_ns[n - 1] <= start_ns)
                n--;
            found += n > 0 && end_ns > open_ns[n - 1];
            open_ns[n++] = end_ns;
        }
    }
    return found;
}

static void test_random(void)
{
    sl_timeline *tl = make();
    sl_error err;
    uint32_t seed = 7;
    note(tl, 0, "default", false);
    kernel(tl, 0, 100, 200);
    for (int i = 0; i < MANY; i++) {
        sl_host_range range = { .name = text_id(tl, "r") };
        seed = seed * 1664525 + 1013904223;
        range.start_ns = seed >> 12 & 0xFFFF;
        range.end_ns = range.start_ns + (seed >> 8 & (i % 9 ? 15 : 4095));
        range.kind = (uint8_t)(seed >> 20 & 1 ? SL_HOST_RANGE_NVTX : SL_HOST_RANGE_OPERATOR);
        range.thread = seed >> 31;
        must(sl_timeline_add_host_range(tl, &range, &err), &err);
    }
    sl_timeline_finish(tl, 0, 70000);
    char *text = saved(tl);
    sl_timeline *back = loaded();
    is_int(count(text, "\"range\":"), MANY, "each of many is written");
    is_int(crossings(text), 0, "all nest in their rows");
    is_int(differences(tl, back), 0, "and they come back");
    free(text);
    sl_timeline_release(tl);
    sl_timeline_release(back);
}

/* ---- files that are wrong ---- */

#define OURS(event)                                                           \
    "{\"streamlab\":{\"version\":\"1\",\"start_ns\":5},\"traceEvents\":[{" K7 \
    "\"name\":\"k\",\"ts\":1,\"dur\":1,\"args\":{\"stream\":7,\"correlation\":1}}," event "]}"
#define ROW(cat, tid, args)                                                      \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"n\",\"pid\":4242,\"tid\":" tid \
    ",\"ts\":1,\"dur\":2,\"args\":{" args "}}"

static void reads(const char *text, int64_t n, const char *about, const char *name)
{
    sl_error err;
    sl_timeline *tl = parse_bytes(text, strlen(text), &err);
    if (!tl) must(SL_EINVAL, &err);
    is_int((int64_t)sl_timeline_host_range_count(tl), n, "%s", name);
    ok(strstr(doubt_sentence(tl, SL_DOUBT_BAD_EVENTS), about) != NULL, "%s",
       *about ? about : "without a word");
    sl_timeline_release(tl);
}

static void test_wrong(void)
{
    reads(OURS(ROW("cpu_op", "1100000", "\"range\":\"nvtx\"")), 1, "",
          "the kind is what is written");
    reads(OURS(ROW("cpu_op", "1100000", "\"range\":\"tune\"")), 0, "not a kind of range",
          "no other kind is taken");
    reads(OURS(ROW("cpu_op", "1100000", "\"range\":7")), 0, "not a kind of range", "nor a number");
    reads(OURS(ROW("cpu_op", "1100000", "\"range\":\"nvtx\",\"thread\":1000000")), 0, "thread",
          "nor a thread beyond the last");
    reads(OURS(ROW("user_annotation", "1100000", "")), 0, "", "without a kind it is no range");
    reads(OURS(ROW("user_annotation", "4242", "\"range\":\"nvtx\"")), 0, "",
          "nor is it on another row");
    reads(OURS(ROW("user_annotation", "1999999", "\"range\":\"nvtx\",\"own ts\":\"x\"")), 0,
          "own ts", "its own times are times");
}

int main(void)
{
    make_directory();
    test_round_trip();
    test_events();
    test_without();
    test_random();
    test_wrong();
    return done_testing();
}
