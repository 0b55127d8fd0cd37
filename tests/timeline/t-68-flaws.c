/* t-68-flaws.c - a trace with something wrong in it: what is sensible is read, the rest is told. */
#include "foreign.h"

/* The traces below have an event a line. */
/* clang-format off */

/* A kernel without "args", and one with. */
#define BARE(tid, members) "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":" tid ",\"name\":\"k\"" members "}"
#define RAN(ts, members) BARE("7", ",\"ts\":" #ts ",\"dur\":5,\"args\":{" members "}")
#define GOOD "\"stream\":8,\"correlation\":4,\"grid\":[2,3,4],\"block\":[32,1,1]"

/* ---- events that are left out ------------------------------------------------------------ */

/* Between two that are as they should be, with a bad one at the end that is only counted. */
static void test_left_out(const char *bad, const char *why, const char *what)
{
    char text[1024], told[512];
    snprintf(text, sizeof text, "[" RAN(1, GOOD) ",\n%s,\n" RAN(20, GOOD) ",\n%s]", bad, bad);
    sl_timeline *tl = events(text);
    is_int(span_count(tl), 2, "%s is left out", what);
    snprintf(told, sizeof told, "2 events are left out. The first: %s", why);
    const char *sentence = doubt_sentence(tl, SL_DOUBT_BAD_EVENTS);
    ok(strstr(sentence, told) == sentence, "and told: %s", sentence);
    sl_timeline_release(tl);
}

static void test_events(void)
{
    test_left_out(BARE("7", ",\"ts\":1"), "event 2 (\"k\"): it has no \"dur\".",
                  "a kernel without duration");
    test_left_out(BARE("7", ",\"dur\":1"), "event 2 (\"k\"): it has no \"ts\".",
                  "a kernel without start");
    test_left_out(BARE("7", ",\"ts\":1,\"dur\":-0.5"),
                  "event 2 (\"k\"): its \"dur\" is -0.5, not 0 or more.",
                  "a kernel that ends before it starts");
    test_left_out(BARE("7", ",\"ts\":null,\"dur\":1"),
                  "event 2 (\"k\"): its \"ts\" is null, not a time", "a start that is null");
    test_left_out(BARE("7", ",\"ts\":\"soon\",\"dur\":1"),
                  "event 2 (\"k\"): its \"ts\" is the text \"soon\", not a time",
                  "a start that is a word");
    test_left_out(BARE("\"x\"", ",\"ts\":1,\"dur\":1,\"args\":{\"stream\":null}"),
                  "event 2 (\"k\"): its \"stream\" is null, not a whole number",
                  "a kernel of which neither stream nor row is known");
    test_left_out("{" CALL "\"name\":\"cudaFree\",\"ts\":1}",
                  "event 2 (\"cudaFree\"): it has no \"dur\".", "a call without duration");
    test_left_out("17", "at byte 139 there is '1' where an object should be.", "a number");
    test_left_out("null", "at byte 139 there is 'n' where an object should be.", "a null");
    test_left_out("{\"ph\" \"X\"}", "at byte 145 there is '\"' where ':' should be.",
                  "what lacks a colon");
    test_left_out(BARE("7", ",\"ts\":1,\"dur\":1,\"args\":{\"stream\":8 \"x\":1}"), "at byte ",
                  "a kernel whose args lack a comma");
}

static void test_one_event(void)
{
    sl_timeline *tl = events("[" RAN(1, GOOD) "," BARE("7", ",\"ts\":1") "]");
    is_str(doubt_sentence(tl, SL_DOUBT_BAD_EVENTS),
           "One event is left out: event 2 (\"k\"): it has no \"dur\".", "a single one is told");
    sl_timeline_release(tl);
    tl = events("[" RAN(1, GOOD) ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1},{\"ph\":\"C\"},{}]");
    is_str(sl_timeline_notice(tl),
           "The trace has no launches: when the host issued the operations is not known.",
           "what is wrong with events that nobody needs is not told");
    sl_timeline_release(tl);
}

/* ---- values that are left out ----------------------------------------------------------- */

/* Of `member`, among args that are whole. */
static sl_timeline *with(const char *member, const char *why)
{
    char text[512], told[512];
    snprintf(text, sizeof text, "[" BARE("7", ",\"ts\":1,\"dur\":5,\"args\":{%s}") "]", member);
    sl_timeline *tl = events(text);
    snprintf(told, sizeof told,
             "One value that is not what it should be is left out: event 1 (\"k\"): its %s.", why);
    is_str(doubt_sentence(tl, SL_DOUBT_BAD_MEMBERS), told, "%s is told", member);
    return tl;
}

static void test_values(void)
{
    sl_timeline *tl = with("\"stream\":null", "\"stream\" is null, not a whole number of 64 bits");
    is_int(span_at(tl, 0)->stream, 0, "the row says what the stream does not: 7, the default one");
    sl_timeline_release(tl);
    tl = with("\"stream\":-2", "\"stream\" is -2, not a stream's number");
    is_int(span_at(tl, 0)->stream, 0, "also where the stream's number cannot be");
    sl_timeline_release(tl);
    tl = with("\"stream\":8,\"correlation\":1.5",
              "\"correlation\" is 1.5, not a whole number of 64 bits");
    ok(strstr(sl_timeline_notice(tl), "no launches"), "it has no launch then");
    sl_timeline_release(tl);
    tl = with("\"grid\":null,\"block\":[32,2,1]", "\"grid\" is null, not a list of whole numbers");
    ok(span_at(tl, 0)->blocks == 0 && span_at(tl, 0)->threads == 64,
       "the grid is not known, the block is");
    sl_timeline_release(tl);
    tl = with("\"grid\":[1,\"a\"],\"block\":null", "\"grid\" is [1,\"a\"], not a list of whole numbers");
    ok(span_at(tl, 0)->blocks == 0 && span_at(tl, 0)->threads == 0,
       "of an event with two such values the first is told");
    sl_timeline_release(tl);
    sl_timeline_release(with("\"correlation\":18446744073709551616",
                             "\"correlation\" is 18446744073709551616, not a whole number of 64 bits"));
    sl_timeline_release(with("\"bytes\":-1", "\"bytes\" is -1, not 0 or more"));
    sl_timeline_release(with("\"device\":{}", "\"device\" is {}, not a whole number of 64 bits"));
    sl_timeline_release(with("\"shared memory\":\"1 KB\",\"registers per thread\":-1",
                             "\"registers per thread\" is -1, not 0 or more"));
    sl_timeline_release(with("\"priority\":true", "\"priority\" is true, not a whole number of 64 bits"));
}

static void test_whole_members(void)
{
    sl_timeline *tl = events("[" BARE("7", ",\"ts\":1,\"dur\":5,\"args\":[]") "]");
    is_str(doubt_sentence(tl, SL_DOUBT_BAD_MEMBERS),
           "One value that is not what it should be is left out: event 1 (\"k\"): its \"args\" is "
           "[], not an object.", "args that are a list are told");
    sl_timeline_release(tl);
    tl = events("[{" K7 "\"name\":null,\"ts\":1,\"dur\":5}]");
    ok(span_count(tl) == 1 && strstr(sl_timeline_notice(tl), "event 1: its \"name\" is null"),
       "a name that is null is told: %s", sl_timeline_notice(tl));
    sl_timeline_release(tl);
    tl = events("[" BARE("7", ",\"ts\":1,\"dur\":5") "]");
    is_str(doubt_sentence(tl, SL_DOUBT_BAD_MEMBERS), "", "an operation needs no args");
    sl_timeline_release(tl);
    sl_error err;
    static const char header[] = "{\"deviceProperties\":[{\"id\" 1}],\"traceEvents\":["
                                 RAN(1, GOOD) "]}";
    tl = parse_bytes(header, sizeof header - 1, &err);
    is_str(tl ? doubt_sentence(tl, SL_DOUBT_BAD_MEMBERS) : err.msg,
           "One value that is not what it should be is left out: at byte 28 there is '1' where ':' "
           "should be.", "a header that is no JSON is told");
    sl_timeline_release(tl);
}

/* ---- what is taken as it was meant --------------------------------------------------------- */

static void test_quotes(void)
{
    sl_timeline *tl = events(
        "[" AT("cudaLaunchKernel", 0, 1, 106) "," BARE("\"7\"", ",\"ts\":\"10.25\",\"dur\":\"5\",\"args\":{"
        "\"stream\":\"8\",\"correlation\":\"106\",\"grid\":\"[2112, 1, 1]\",\"block\":[\"32\",1,1]}") "]");
    const sl_span *span = span_at(tl, 0);
    is_str(sl_timeline_notice(tl), "", "numbers in quotes are those numbers");
    is_int(span->start_ns, 10250, "a time");
    is_int(span->end_ns, 15250, "a duration");
    is_int(span->host_end_ns, 1000, "a correlation, by which the launch is found");
    is_int(span->stream, 1, "a stream");
    is_int(span->blocks, 2112, "and a list of them");
    is_int(span->threads, 32, "or in one");
    sl_timeline_release(tl);
}

static void test_twice(void)
{
    sl_timeline *tl = events("[" BARE("7", ",\"ts\":1,\"dur\":5,\"dur\":9") ","
                             RAN(20, "\"stream\":7,\"stream\":8") "]");
    is_int(span_at(tl, 0)->end_ns - span_at(tl, 0)->start_ns, 9000, "of a key twice the last counts");
    is_int(span_at(tl, 1)->stream, 1, "also in args");
    is_str(doubt_sentence(tl, SL_DOUBT_DOUBLE_KEYS),
           "2 events have a key twice, of which the last one counts. The first: event 1 (\"k\"): it "
           "has \"dur\" twice.", "which is told");
    sl_timeline_release(tl);
}

/* ---- what is not whole --------------------------------------------------------------------- */

/* Behind an event that is as it should be. */
static void test_cut(const char *after, const char *why, const char *what)
{
    char text[512], told[512];
    sl_error err;
    snprintf(text, sizeof text, "{\"traceEvents\":[" RAN(1, GOOD) "%s", after);
    sl_timeline *tl = parse_bytes(text, strlen(text), &err);
    snprintf(told, sizeof told,
             "The file cannot be read to its end: %s. What comes before that is read.", why);
    is_str(tl ? doubt_sentence(tl, SL_DOUBT_CUT_OFF) : err.msg, told, "%s is told", what);
    is_int(tl ? (int)span_count(tl) : 0, 1, "and what comes before is read");
    sl_timeline_release(tl);
}

static void test_ends(void)
{
    test_cut("", "it ends after byte 151, where ',' or ']' should be", "a file that lacks its end");
    test_cut(",", "it ends after byte 152, where an object should be", "one that ends at a comma");
    test_cut(",{\"ph\":\"X", "it ends after byte 160 inside a text that begins at byte 159",
             "one that ends in a text");
    test_cut("]", "it ends after byte 152, where ',' or '}' should be", "one that lacks a bracket");
    test_cut("]} x", "something follows after its end, at byte 155", "one that goes on");
    test_cut(",{\"a\":[1}]}", "at byte 160 there is '}' where ']' should be",
             "a bracket of the wrong kind");
    test_cut("],\"traceEvents\":[]}", "it has \"traceEvents\" twice", "a second list of events");
}

int main(void)
{
    plan(0);
    test_events();
    test_one_event();
    test_values();
    test_whole_members();
    test_quotes();
    test_twice();
    test_ends();
    return done_testing();
}
