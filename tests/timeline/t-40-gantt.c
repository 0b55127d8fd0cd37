/* t-40-gantt.c - the Gantt chart in characters, cell by cell.
 *
 * At 30 columns a label of one column leaves 30 - 1 - 3 - 5 = 21 cells, one of
 * two columns 20; the timelines are 210 or 200 ns long, so a cell is 10 ns.
 */
#define _XOPEN_SOURCE 700 /* strndup */
#include "make.h"

static char *chart_of(const sl_timeline *tl, sl_rows rows, int columns, bool unicode, bool colour,
                      int64_t from_ns, int64_t to_ns)
{
    sl_text text = { 0 };
    sl_error err;
    sl_gantt_options options = { columns, unicode, colour, from_ns, to_ns, rows, NULL };
    must(sl_timeline_gantt(tl, &options, &text, &err), &err);
    return text.data;
}

static char *chart_range(const sl_timeline *tl, int columns, bool unicode, bool colour,
                         int64_t from_ns, int64_t to_ns)
{
    return chart_of(tl, SL_ROWS_STREAMS, columns, unicode, colour, from_ns, to_ns);
}

static char *chart(const sl_timeline *tl, int columns, bool unicode)
{
    return chart_range(tl, columns, unicode, false, 0, 0);
}

/* Columns of the widest line, for charts without colour whose characters take one
 * column each. */
static int widest(const char *text)
{
    int most = 0, now = 0;
    for (; *text; text++) {
        now = *text == '\n' ? 0 : now + ((*text & 0xC0) != 0x80);
        most = now > most ? now : most;
    }
    return most;
}

static sl_timeline *two_streams(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    note(tl, 2, "bb", false);
    kernel(tl, 1, 0, 104);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 100, 150);
    span(tl, 2, SL_SPAN_MEMCPY_D2H, 153, 156);
    span(tl, 2, SL_SPAN_MEMSET, 190, 200);
    finish(tl);
    return tl;
}

/* a:  ten full cells, then 4 of 10 ns: 3 eighths. Busy 104 of 200.
 * bb: five cells of H2D, 3 of 10 ns of D2H is hollow, one memset. Busy 63 of 200. */
static void test_two_streams(void)
{
    sl_timeline *tl = two_streams();
    char *text = chart(tl, 30, true);
    is_str(text,
           "a  │██████████▍·········│  52%\n"
           "bb │··········▲▲▲▲▲▽···●│  32%\n"
           "   └┬─────────┬─────────┘ busy\n"
           "    0        100 ns\n"
           "█ kernel  ▲ copy H2D\n"
           "▼ copy D2H  ● memset  · idle\n"
           "lighter, hollow: partly busy\n",
           "two streams, four kinds");
    free(text);
    text = chart(tl, 30, false);
    is_str(text,
           "a  |##########:.........|  52%\n"
           "bb |..........>>>>>(...*|  32%\n"
           "   ++---------+---------+ busy\n"
           "    0        100 ns\n"
           "# kernel  > copy H2D\n"
           "< copy D2H  * memset  . idle\n"
           ": ( partly busy\n",
           "the same without Unicode");
    free(text);
    text = chart_range(tl, 30, true, false, 100, 200); /* 5 ns a cell */
    is_str(text,
           "a  │▊···················│   4%\n"
           "bb │▲▲▲▲▲▲▲▲▲▲▽▽······●●│  63%\n"
           "   └┬─────────┬─────────┘ busy\n"
           "   100       150 ns\n"
           "█ kernel  ▲ copy H2D\n"
           "▼ copy D2H  ● memset  · idle\n"
           "lighter, hollow: partly busy\n",
           "the second half alone");
    free(text);
    text = chart_range(tl, 30, true, true, 0, 0);
    ok(strstr(text, "a  │\033[32m██████████▍\033[0m\033[2m·········\033[0m│  52%\n") != NULL,
       "colours change with the kind and end with the row");
    free(text);
    sl_timeline_release(tl);
}

/* Cell by cell, 10 ns each:
 *   0  full                       1  0-3: one stretch from the left, 2 eighths
 *   2  6-8 inside: 2 eighths      3  6-10 to the right: half
 *   4  full                       5  0-4: 3 eighths
 *   6  0-3 and 6-8: half, light   7  0-5 and 7-9: 7 of 10, dark
 *   8  idle                       9  two single ns: lightest
 *  20  the last ns: a thin mark at the right          busy 49 of 210 */
static void test_fill_levels(void)
{
    static const int64_t at[][2] = {
        { 0, 13 },  { 26, 28 }, { 36, 54 }, { 60, 63 }, { 66, 68 },
        { 70, 75 }, { 77, 79 }, { 92, 93 }, { 98, 99 }, { 209, 210 },
    };
    sl_timeline *tl = make();
    note(tl, 1, "k", false);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        kernel(tl, 1, at[i][0], at[i][1]);
    finish(tl);
    char *text = chart(tl, 30, true);
    const char *want = "k │█▎▎▐█▍▒▓·░··········▕│  23%\n";
    char *line = strndup(text, strlen(want));
    is_str(line, want, "bars have edges, stretches with gaps have shades");
    free(line);
    free(text);
    sl_timeline_release(tl);
}

/* 1 us of copy in 100 ms, and spans of no length at all. */
static void test_short_spans(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    note(tl, 2, "b", false);
    note(tl, 3, "c", false);
    kernel(tl, 1, 0, 100000000);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 50000000, 50001000);
    kernel(tl, 3, 99999999, 100000000);
    span(tl, 3, SL_SPAN_MEMSET, 0, 0);
    finish(tl);
    char *text = chart(tl, 80, true);
    ok(strstr(text, "▵") != NULL, "a copy of 1 us in 100 ms leaves a mark");
    ok(strstr(text, "▕│  <1%") != NULL, "so does a kernel of 1 ns at the very end");
    ok(strstr(text, "◦") != NULL, "and a memset of no length");
    ok(strstr(text, "b │") && strstr(strstr(text, "b │"), "│  <1%"), "less than 1 %% is not 0 %%");
    free(text);
    text = chart(tl, 80, false);
    ok(strstr(text, ".).") && strstr(text, "|+."), "without Unicode, too");
    free(text);
    sl_timeline_release(tl);
    tl = make();
    kernel(tl, 1, 500, 500);
    finish(tl);
    text = chart(tl, 40, true);
    ok(strstr(text, "│▏··") != NULL, "a timeline of no length is drawn");
    free(text);
    sl_timeline_release(tl);
}

static void test_empty_and_refusals(void)
{
    sl_timeline *tl = make();
    finish(tl);
    char *text = chart(tl, 80, true);
    is_str(text, "The timeline is empty: nothing ran on the device.\n",
           "an empty timeline says so");
    free(text);
    sl_timeline_release(tl);
    tl = two_streams();
    sl_error err;
    sl_text out = { 0 };
    sl_text_add(&out, "before");
    sl_gantt_options options = { .columns = 19 };
    is_int(sl_timeline_gantt(tl, &options, &out, &err), SL_EINVAL, "19 columns are too few");
    options = (sl_gantt_options){ .columns = -1 };
    is_int(sl_timeline_gantt(tl, &options, &out, &err), SL_EINVAL, "-1 columns are, too");
    options = (sl_gantt_options){ .from_ns = 50, .to_ns = 50 };
    is_int(sl_timeline_gantt(tl, &options, &out, &err), SL_EINVAL, "an empty range is refused");
    options = (sl_gantt_options){ .from_ns = 201 };
    is_int(sl_timeline_gantt(tl, &options, &out, &err), SL_EINVAL, "so is one behind the end");
    is_str(err.msg, "the range 0.201 to 0.2 us is empty: the timeline lasts from 0 to 0.2 us",
           "and the sentence says it, in us");
    options = (sl_gantt_options){ .from_ns = 5000000, .to_ns = 1009900 };
    sl_timeline_gantt(tl, &options, &out, &err);
    ok(strstr(err.msg, "the range 5000 to 1009.9 us is empty") == err.msg,
       "whole us have no point");
    options = (sl_gantt_options){ .from_ns = -1500, .to_ns = 100 };
    is_int(sl_timeline_gantt(tl, &options, &out, &err), SL_EINVAL, "a negative time is refused");
    ok(strstr(err.msg, "the range -1.5 to 0.1 us begins before 0") == err.msg, "as such");
    is_str(out.data, "before", "a refused chart adds nothing");
    sl_text_free(&out);
    sl_timeline_release(tl);
}

/* 10 ns a cell. a: five kernels of 40 ns back to back. b: 3 of 40 ns with a visible
 * gap (20 ns) and an invisible one (2 ns), in whose cell the mark stands. c: a change
 * of kind, which needs no mark; then operations of 20 ns, too short for one. */
static void test_marks(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    note(tl, 2, "b", false);
    note(tl, 3, "c", false);
    for (int i = 0; i < 5; i++)
        kernel(tl, 1, i * 40, i * 40 + 40);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 0, 40);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 60, 100);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 102, 142);
    kernel(tl, 3, 0, 40);
    span(tl, 3, SL_SPAN_MEMSET, 40, 80);
    for (int i = 0; i < 4; i++)
        kernel(tl, 3, 80 + i * 20, 100 + i * 20);
    span(tl, 3, SL_SPAN_MEMSET, 209, 210);
    finish(tl);
    char *text = chart(tl, 30, true);
    is_str(text,
           "a │████│███│███│███│███·│  95%\n"
           "b │▲▲▲▲··▲▲▲▲│▲▲▲△······│  57%\n"
           "c │████●●●●████████····○│  77%\n"
           "  └┬─────────┬─────────┬┘ busy\n"
           "   0        100       200 ns\n"
           "█ kernel  ▲ copy H2D  ● memset\n"
           "· idle  │ next begins\n"
           "lighter, hollow: partly busy\n",
           "a line where an operation follows its like");
    free(text);
    text = chart(tl, 30, false);
    is_str(text,
           "a |####|###|###|###|###.|  95%\n"
           "b |>>>>..>>>>|>>>)......|  57%\n"
           "c |####****########....+|  77%\n"
           "  ++---------+---------++ busy\n"
           "   0        100       200 ns\n"
           "# kernel  > copy H2D  * memset\n"
           ". idle  | next begins\n"
           ") + partly busy\n",
           "the same without Unicode");
    free(text);
    text = chart_range(tl, 30, false, false, 40, 145); /* 5 ns a cell: from a's second */
    ok(strncmp(text, "a |########|#######|####|", 25) == 0, "the first cell shown needs no mark");
    free(text);
    sl_timeline_release(tl);
}

static void test_many_streams(void)
{
    sl_timeline *tl = make();
    for (uint32_t i = 0; i < 200; i++) { /* odd streams are ten times as busy */
        int64_t length = (i % 2 ? 1000 : 100) + i;
        kernel(tl, i, 0, length);
    }
    finish(tl);
    char *text = chart(tl, 80, false);
    is_int(count(text, "%\n"), 32, "32 streams are drawn");
    ok(strstr(text, "\n... 168 more streams\n") != NULL, "the others are counted");
    ok(strstr(text, "stream 137 |") && strstr(text, "stream 199 |") && !strstr(text, "stream 135 |")
           && !strstr(text, "stream 136 |"),
       "the busiest are drawn");
    ok(strstr(text, "stream 137 |") < strstr(text, "stream 199 |"), "in order of their ids");
    free(text);
    sl_timeline_release(tl);
}

static void test_labels(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a name that is far too long", false);
    note(tl, 2, "grün\033[31m", false);
    note(tl, 3,
         "\xff\xfe"
         "bad",
         false);
    note(tl, 4, "日本語の名前です", false);
    note(tl, 6, "prefix of ae\u0301e\u0301nd 30", false);
    for (uint32_t i = 1; i <= 6; i++)
        kernel(tl, i, 0, 100);
    finish(tl);
    char *text = chart(tl, 80, true);
    ok(strstr(text, "a name …o long │") != NULL, "a long name is cut in the middle");
    ok(strstr(text, "grün?[31m      │") != NULL, "an escape sequence does not reach the terminal");
    ok(strstr(text, "??bad          │") != NULL, "bytes that are no UTF-8 are marked");
    ok(strstr(text, "日本語…前です  │") != NULL, "wide characters count as two columns");
    ok(strstr(text, "prefix …e\u0301nd 30 │") != NULL, "an accent goes with its letter");
    ok(strstr(text, "stream 5       │") != NULL, "a stream without a name has its number");
    free(text);
    text = chart(tl, 80, false);
    bool ascii = true;
    for (const char *at = text; *at; at++)
        ascii = ascii && (*at == '\n' || (*at >= ' ' && *at < 127));
    ok(ascii, "without Unicode every byte is ASCII");
    free(text);
    sl_timeline_release(tl);
}

/* 10 ns a cell. Two streams share the compute engine: b's long kernel begins at 40, and
 * a's at 100 while it runs, of which the line tells; a's first one is issued last. Of the
 * 200 ns compute works 30 and 130, d2h 130. */
static void test_engine_rows(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    note(tl, 2, "b", false);
    kernel(tl, 1, 100, 170);
    kernel(tl, 2, 40, 120);
    span(tl, 2, SL_SPAN_MEMCPY_D2H, 70, 200);
    kernel(tl, 1, 0, 30);
    finish(tl);
    char *text = chart_of(tl, SL_ROWS_ENGINES, 35, false, false, 0, 0);
    is_str(text,
           "compute |###.######|######...|  80%\n"
           "d2h     |.......<<<<<<<<<<<<<|  65%\n"
           "        ++---------+---------+ busy\n"
           "         0        100 ns\n"
           "# kernel  < copy D2H  . idle\n"
           "| next begins\n",
           "engines as rows: kernels of two streams are in one");
    free(text);
    text = chart_of(tl, SL_ROWS_ENGINES, 35, false, false, 100, 200);
    is_str(text,
           "compute ||#############......|  70%\n"
           "d2h     |<<<<<<<<<<<<<<<<<<<<| 100%\n"
           "        ++---------+---------+ busy\n"
           "        100       150 ns\n"
           "# kernel  < copy D2H  . idle\n"
           "| next begins\n"
           "showing 100 to 200 ns of 200 ns\n",
           "and the second half of it");
    free(text);
    text = chart(tl, 29, false);
    ok(strncmp(text, "a |###.......#######...|  50%\n", 30) == 0,
       "spans of a stream that were not issued in order of time are drawn as they ran");
    free(text);
    sl_timeline_release(tl);
}

/* The other one is twice as long and has a label of four columns: 18 cells of 20 ns. */
static void test_beside(void)
{
    sl_timeline *tl = make(), *other = make();
    sl_text text = { 0 };
    sl_error err;
    note(tl, 1, "a", false);
    kernel(tl, 1, 0, 180);
    finish(tl);
    note(other, 1, "long", false);
    kernel(other, 1, 0, 360);
    finish(other);
    sl_gantt_options options = { .columns = 30, .beside = other };
    must(sl_timeline_gantt(tl, &options, &text, &err), &err);
    is_str(text.data,
           "a    |#########.........|  50%\n"
           "     ++---------+-------+ busy\n"
           "      0        200 ns\n"
           "# kernel  . idle\n",
           "a chart beside a longer one has its scale and columns");
    sl_text_free(&text);
    options.beside = tl;
    must(sl_timeline_gantt(other, &options, &text, &err), &err);
    ok(strncmp(text.data, "long |##################| 100%\n", 31) == 0,
       "the longer one has them too");
    sl_text_free(&text);
    options = (sl_gantt_options){ .columns = 30, .beside = other, .from_ns = 200 };
    must(sl_timeline_gantt(tl, &options, &text, &err), &err);
    ok(strncmp(text.data, "a    |..................|   0%\n", 31) == 0,
       "and a part in which only the other one has work is drawn");
    sl_text_free(&text);
    sl_timeline_release(tl);
    sl_timeline_release(other);
}

static void test_parts(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 69400000);
    finish(tl);
    static const struct {
        int64_t from_ns, to_ns;
        const char *says;
    } parts[] = {
        { 12000000, 18000000, "  showing 12 to 18 ms of 69.4 ms\n" },
        { 12345678, 18000000, "  showing 12.346 to 18 ms of 69.4 ms\n" },
        { 12345678, 12345978, "  showing 12.345678 to 12.345978 ms of 69.4 ms\n" },
        { 0, 300000, "  showing 0 to 300 us of 69.4 ms\n" },
        { 0, 69399999, "  showing 0 to 69.4 ms of 69.4 ms\n" },
        { 60000000, 80000000, "  showing 60 to 80 ms of 69.4 ms\n" },
        { 0, 69400000, NULL },
        { 0, 100000000, NULL },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *text = chart_range(tl, 80, false, false, parts[i].from_ns, parts[i].to_ns);
        const char *says = parts[i].says;
        ok(says ? strstr(text, says) != NULL : strstr(text, "showing") == NULL,
           "%" PRId64 " to %" PRId64 " ns %s", parts[i].from_ns, parts[i].to_ns,
           says ? "says which part it is" : "is all of it");
        free(text);
    }
    char *text = chart_range(tl, 30, false, false, 12345678, 12345978);
    ok(strstr(text, "showing") == NULL, "a narrow chart leaves it out");
    free(text);
    text = chart_range(tl, 20, false, false, 12100000, 12900000);
    is_str(text,
           "st..1 |#######| 100%\n"
           "      ++------+ busy\n"
           "     12.1 ms\n"
           "# kernel\n",
           "and an axis between two ticks has a label at its beginning");
    free(text);
    sl_timeline_release(tl);
}

/* Whether the labels under the axis, the line behind "busy", end in a unit. */
static bool has_unit(const char *text)
{
    const char *labels = strstr(text, " busy\n"), *end = labels ? strchr(labels + 6, '\n') : NULL;
    return end && end[-1] == 's' && strchr(" num", end[-2]) != NULL;
}

/* Every width and many ranges: no line is wider than asked for, and the axis
 * always has a unit. */
static void test_widths(void)
{
    int too_wide = 0, not_full = 0, no_unit = 0, silent = 0;
    for (int64_t length = 1; length < 4000000000000; length = length * 7 + 3) {
        sl_timeline *tl = make();
        note(tl, 1, "a stream with a name", false);
        for (int i = 0; i < SL_SPAN_KINDS; i++)
            span(tl, (uint32_t)i % 2 + 1, (sl_span_kind)i, length * i / 8, length * (i + 1) / 8);
        finish(tl);
        for (int columns = 20; columns <= 200; columns += 1 + columns / 40) {
            for (int unicode = 0; unicode <= 1; unicode++) {
                char *text = chart(tl, columns, unicode);
                too_wide += widest(text) > columns;
                not_full += widest(text) < columns;
                no_unit += !has_unit(text);
                silent += strstr(text, unicode ? "△" : ")") && !strstr(text, "partly busy\n");
                free(text);
                if (length < 100) continue;
                text = chart_range(tl, columns, unicode, false, length / 3,
                                   length / 3 + length / 50);
                too_wide += widest(text) > columns;
                no_unit += !has_unit(text);
                free(text);
            }
        }
        sl_timeline_release(tl);
    }
    is_int(too_wide, 0, "no chart is wider than asked for");
    is_int(not_full, 0, "every chart uses its columns");
    is_int(no_unit, 0, "every axis has a unit");
    is_int(silent, 0, "every legend explains the lighter signs");
}

/* 400 times the longest span there can be: what they take of a cell adds up beyond 64 bits. */
static void test_huge(void)
{
    const int64_t far = (INT64_C(1) << 61) - 1;
    sl_timeline *tl = make();
    note(tl, 1, "a", false);
    for (int i = 0; i < 400; i++)
        kernel(tl, 1, -far, far);
    finish(tl);
    char *text = chart(tl, 30, true);
    char *line = strndup(text, strcspn(text, "\n"));
    is_str(line, "a ││████████████████████│ 100%",
           "146 years of kernels above each other are a full bar, in which others begin");
    free(line);
    free(text);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(56);
    test_two_streams();
    test_fill_levels();
    test_short_spans();
    test_empty_and_refusals();
    test_marks();
    test_many_streams();
    test_labels();
    test_engine_rows();
    test_beside();
    test_parts();
    test_widths();
    test_huge();
    return done_testing();
}
