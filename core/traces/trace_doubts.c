/* trace_doubts.c - what is in doubt about a trace, in a sentence a kind. */
#include "trace_doubts.h"

#include <string.h>

#include "../text/units.h"

/* In sentences {n}, {of}, {time} and {what} are what sl__doubted has. `one` is for n = 1, `all` for
 * n = of, `timed` for a time above 0; where a row lacks them, `many` is for all. */
typedef struct row {
    const char *many, *one, *all, *timed;
} row;

/* clang-format off */
static const row rows[SL_DOUBTS] = {
    [SL_DOUBT_CUT_OFF] = {
        .many = "The file cannot be read to its end: {what}. What comes before that is read." },
    [SL_DOUBT_ENDS_EARLY] = {
        .many = "The recordings of {n} processes end early. The first: {what}.",
        .one = "The recording ends early: {what}." },
    [SL_DOUBT_DROPPED] = {
        .many = "{n} records are missing, since there was no room for them: operations and calls "
                "are not here.",
        .one = "One record is missing, since there was no room for it: an operation or a call is "
               "not here." },
    [SL_DOUBT_DROPPED_MARKS] = {
        .many = "The recorder had no room for {n} ranges of NVTX and lines of calls: tables by "
                "range and by line lack them.",
        .one = "The recorder had no room for one range of NVTX, or line of a call." },
    [SL_DOUBT_BAD_EVENTS] = {
        .many = "{n} events are left out. The first: {what}.",
        .one = "One event is left out: {what}." },
    [SL_DOUBT_BAD_MEMBERS] = {
        .many = "{n} values that are not what they should be are left out. The first: {what}.",
        .one = "One value that is not what it should be is left out: {what}." },
    [SL_DOUBT_DOUBLE_KEYS] = {
        .many = "{n} events have a key twice, of which the last one counts. The first: {what}.",
        .one = "One event has a key twice, of which the last one counts: {what}." },
    [SL_DOUBT_PROCESSES] = {
        .many = "The trace has calls of {n} processes.",
        .timed = "The trace has calls of {n} processes. The {time} between them are no wait of the "
                 "program's." },
    [SL_DOUBT_TURNS] = {
        .many = "Kernels of {n} processes were under way at the same time, for {time} in total: "
                "without MPS the GPU runs those of one process at a time and changes between them, "
                "so that each takes longer than it would alone." },
    [SL_DOUBT_NO_TIME] = {
        .many = "{n} operations have no time in the trace (they start at 0): they are left out.",
        .one = "One operation has no time in the trace (it starts at 0): it is left out." },
    [SL_DOUBT_TOO_LONG] = {
        .many = "{n} operations last while later ones of their streams start and end, which cannot "
                "be: they are cut where the next one starts, by {time} in total.",
        .one = "One operation lasts while later ones of its stream start and end, which cannot be: "
               "it is cut by {time}, where the next one starts." },
    [SL_DOUBT_CLOCK_EARLY] = {
        .many = "Of {of} operations, {n} start before the calls that launched them: the GPU's "
                "clock is early, and all operations are moved {time} later.",
        .all = "All operations start before the calls that launched them: the GPU's clock is "
               "early, and they are moved {time} later." },
    [SL_DOUBT_CLOCK_LATE] = {
        .many = "{n} of {of} waits of the host return before what they waited for ends: the GPU's "
                "clock is late, and all operations are moved {time} earlier.",
        .all = "Waits of the host return before what they waited for ends: the GPU's clock is "
               "late, and all operations are moved {time} earlier." },
    [SL_DOUBT_BEFORE_CALL] = {
        .many = "{n} operations start before the calls that launched them, by up to {time}: their "
                "times are in doubt.",
        .one = "One operation starts {time} before the call that launched it: its time is in "
               "doubt." },
    [SL_DOUBT_AFTER_WAIT] = {
        .many = "{n} waits of the host return before what they waited for ends, by up to {time}: "
                "times of operations are in doubt.",
        .one = "One wait of the host returns {time} before what it waited for ends: times of "
               "operations are in doubt." },
    [SL_DOUBT_FAILED_CALLS] = {
        .many = "{n} calls failed, and what they were to do is not here. The first: {what}.",
        .one = "One call failed, and what it was to do is not here: {what}." },
    [SL_DOUBT_NO_OPERATION] = {
        .many = "Of {of} launches of kernels, {n} have no operation in the trace: the GPU may have "
                "worked where it seems idle.",
        .one = "Of {of} launches of kernels, one has no operation in the trace: the GPU may have "
               "worked where it seems idle." },
    [SL_DOUBT_NO_NODES] = {
        .many = "Of {of} launches of graphs, {n} have no operations in the trace: the GPU seems "
                "idle while it ran them.",
        .one = "Of {of} launches of graphs, one has no operations in the trace: the GPU seems idle "
               "while it ran it.",
        .all = "Launches of graphs ({n}) have no operations in the trace: the GPU seems idle while "
               "it ran them." },
    [SL_DOUBT_WARNINGS] = {
        .many = "Nsight Systems gives {n} warnings about CUDA in the report. The first: {what}.",
        .one = "Nsight Systems warns in the report: {what}." },
    [SL_DOUBT_WHOLE_GRAPHS] = {
        .many = "{n} launches of graphs are one operation each, since the report does not have "
                "what they ran: nsys profile --cuda-graph-trace=node records that.",
        .one = "A launch of a graph is one operation, since the report does not have what it ran: "
               "nsys profile --cuda-graph-trace=node records that." },
    [SL_DOUBT_MIGRATIONS] = {
        .many = "{n} times pages of managed memory moved between host and GPU, in {time} in total: "
                "that is in no stream, and is left out.",
        .one = "Once pages of managed memory moved between host and GPU, in {time}: that is in no "
               "stream, and is left out." },
    [SL_DOUBT_PROFILER_STALLS] = {
        .many = "The profiler held the host {n} times for its own work ({what}), for {time} in "
                "total: the program does not lose that without it.",
        .one = "The profiler held the host once for its own work ({what}), for {time}: the program "
               "does not lose that without it." },
    [SL_DOUBT_PROFILER_COST] = {
        .many = "The GPU waits for the host here, and the profiler slows the host down: recording "
                "{n} {what} and calls took about {time} of the makespan." },
    [SL_DOUBT_SEVERAL_GPUS] = { .many = "The trace has work on several GPUs: {what}." },
    [SL_DOUBT_NO_LAUNCH] = {
        .many = "Of {of} operations, {n} have no launch in the trace: when the host issued them "
                "is not known.",
        .one = "Of {of} operations, one has no launch in the trace: when the host issued it is not "
               "known.",
        .all = "The trace has no launches: when the host issued the operations is not known." },
    [SL_DOUBT_UNKNOWN_WAITS] = {
        .many = "The trace does not say for what {n} of its calls waited ({what}): waits between "
                "streams are guessed from the times." },
    [SL_DOUBT_ASKING_LOOPS] = {
        .many = "{n} loops that ask until work is done (cudaEventQuery, cudaStreamQuery) count as "
                "the synchronisations that they stand for.",
        .one = "A loop that asks until work is done (cudaEventQuery, cudaStreamQuery) counts as "
               "the synchronisation that it stands for." },
    [SL_DOUBT_NO_LINES] = {
        .many = "The lines of {n} programs are not known. The first: {what}.",
        .one = "The program's lines are not known: {what}." },
    [SL_DOUBT_PLAYED] = { .many = SL_PLAYED_SENTENCE },
};
/* clang-format on */

static const char *choose(const row *said, const sl__doubted *found)
{
    if (said->all && found->n == found->of) return said->all;
    if (said->timed && found->ns > 0) return said->timed;
    return said->one && found->n == 1 ? said->one : said->many;
}

static void add_value(sl_text *text, const char *name, const sl__doubted *found)
{
    char time[SL__DURATION_BYTES];
    sl_format_duration(time, found->ns);
    switch (*name) {
    case 'n': sl_text_add(text, "%zu", found->n); return;
    case 'o': sl_text_add(text, "%zu", found->of); return;
    case 't': sl_text_add(text, "%s", time); return;
    case 'w': sl_text_add(text, "%s", found->what.len ? found->what.data : ""); return;
    }
}

static void compose(sl_text *text, const char *sentence, const sl__doubted *found)
{
    for (const char *at; (at = strchr(sentence, '{')); sentence = strchr(at, '}') + 1) {
        sl_text_add(text, "%.*s", (int)(at - sentence), sentence);
        add_value(text, at + 1, found);
    }
    sl_text_add(text, "%s", sentence);
}

static sl_status tell(sl_doubt_kind kind, const sl__doubted *found, sl_timeline *timeline,
                      sl_error *err)
{
    sl_text text = { 0 };
    compose(&text, choose(&rows[kind], found), found);
    const sl_doubt doubt = { .kind = kind,
                             .n = found->n,
                             .ns = found->ns,
                             .from_ns = found->from_ns,
                             .to_ns = found->to_ns,
                             .sentence = text.data };
    sl_status status = text.failed || found->what.failed
                           ? sl__no_memory(err, "a notice")
                           : sl_timeline_add_doubt(timeline, &doubt, err);
    sl_text_free(&text);
    return status;
}

sl_status sl__doubts_tell(const sl__doubted doubted[SL_DOUBTS], sl_timeline *timeline,
                          sl_error *err)
{
    sl_status status = SL_OK;
    for (int kind = 0; kind < SL_DOUBTS && status == SL_OK; kind++)
        if (doubted[kind].n > 0) status = tell((sl_doubt_kind)kind, &doubted[kind], timeline, err);
    return status;
}
