/* trace_waits.c - waits of a foreign trace that show in its times alone.
 *
 *   A synchronisation of an unknown stream waited for what ended last before it returned; one
 *   with an unknown event for what ended last with a record behind it.
 *   A loop of cudaEventQuery or cudaStreamQuery waited for what ended before its last question.
 *   cudaFree and its like waited for the device if the last of the earlier work ended while
 *   they ran, and they returned soon after. Calls also end near the end of some work by chance,
 *   and a call of the same name that returned while earlier work still ran speaks against it: the
 *   others are believed only if they took many times as long, and returned so soon that chance
 *   would not do it once in sixteen times. One that returned within microseconds had nothing to
 *   free, and says nothing. (Which of them wait depends on driver and pool: on an H200 cudaFree
 *   and cudaFreeHost do, and cudaMalloc, cudaMallocHost and cudaHostRegister do not.)
 */
#include "trace_match.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/sort.h"
#include "../timeline/store.h"

#define LOOK_BACK 64 /* operations that ended while a call waited; calls between two questions */
/* From the work's end to the return. On an H200 cudaFree takes 0.14 ms, and cudaFreeHost of 4 MiB
 * 0.42 ms (docs/results/fidelity-probe.jsonl: "gpu_host_us" behind a kernel of 10 ms). */
#define SOON_NS 500000
#define EVENT_SOON_NS 50000 /* the same for an event: on an H200 4 us */
#define CLOCKS_NS 10000     /* by how much the two clocks may differ */
#define NOTHING_NS 10000    /* more than cudaFree(NULL) takes, less than other calls do */
#define MANY_TIMES 8        /* longer than any that did not wait */
#define LEAST_QUESTIONS 3   /* of a loop that waits: fewer ask in passing */
#define CHANCE 16           /* of a call's time, the end of the work lies in this part */

typedef struct ending {
    int64_t end_ns;
    size_t work;
} ending;

typedef struct waits {
    const sl__match *match;
    ending *by_end;       /* works by their ends, where these are needed */
    int64_t *early_ns;    /* by name: the longest that returned while earlier work ran */
    int64_t *last_end_ns; /* by process, of what was issued so far */
} waits;

static sl__host *call_at(const sl__match *m, size_t i)
{
    return m->items[i].call ? &m->records->hosts[m->items[i].index] : NULL;
}

static bool asks(const sl__host *host)
{
    return host->does == SL__DOES_ASK_EVENT || host->does == SL__DOES_ASK_STREAM;
}

/* ---- synchronisations ------------------------------------------------------------------- */

static bool has_no_stream(const sl__host *host)
{
    return host->call.kind == SL_CALL_STREAM_SYNC && host->stream == SL__NO_STREAM;
}

static bool has_no_event(const sl__host *host)
{
    return host->call.kind == SL_CALL_EVENT_SYNC && host->call.target == 0;
}

/* Whether there is a call that what ended before it has to explain. */
static bool needs_ends(const sl__match *m)
{
    for (size_t i = 0; i < m->n_items; i++) {
        const sl__host *host = call_at(m, i);
        if (host && (asks(host) || has_no_stream(host) || has_no_event(host))) return true;
    }
    return false;
}

SL__ORDER(by_end, ending, x->end_ns, x->work);

static void sort_ends(waits *w)
{
    const sl__records *records = w->match->records;
    for (size_t i = 0; i < records->n_works; i++)
        w->by_end[i] = (ending){ records->works[i].span.end_ns, i };
    sl__sort(w->by_end, records->n_works, sizeof *w->by_end, by_end);
}

/* Is this work the last one of its stream that was issued before `position`? Works are in
 * order of stream and start. */
static bool is_last_before(const sl__match *m, size_t work, size_t position)
{
    const sl__records *records = m->records;
    bool more = work + 1 < records->n_works
                && records->works[work + 1].stream == records->works[work].stream;
    return m->position[work] < position && (!more || m->position[work + 1] > position);
}

/* How many works had ended when the call returned. */
static size_t ended_before(const waits *w, const sl__host *host)
{
    size_t at;
    SL__SEARCH(at, w->match->records->n_works, w->by_end[at].end_ns <= host->call.host_end_ns);
    return at;
}

/* A synchronisation of a stream that the file does not name: the host went on when the last
 * work of that stream had ended. If nothing ended meanwhile, it did not wait. */
static void guess_stream(const waits *w, sl__host *host, size_t position)
{
    const sl__match *m = w->match;
    size_t low = ended_before(w, host);
    for (size_t i = 0; i < LOOK_BACK && low-- > 0; i++) {
        if (w->by_end[low].end_ns <= host->call.host_start_ns) break;
        if (is_last_before(m, w->by_end[low].work, position)) {
            host->stream = sl__row_stream(m->records->works[w->by_end[low].work].stream);
            return;
        }
    }
    sl__forget_kind(host);
}

/* The record that was made behind this work, before anything else of its stream and before
 * `position`; or NULL. */
static sl__host *record_behind(const sl__match *m, size_t work, size_t position)
{
    const sl__records *records = m->records;
    bool more = work + 1 < records->n_works
                && records->works[work + 1].stream == records->works[work].stream;
    size_t end = more && m->position[work + 1] < position ? m->position[work + 1] : position;
    for (size_t i = m->position[work] + 1; i < end && i <= m->position[work] + LOOK_BACK; i++) {
        sl__host *host = m->items[i].call ? &records->hosts[m->items[i].index] : NULL;
        if (!host) continue;
        if (host->call.kind == SL_CALL_EVENT_RECORD
            && host->stream == sl__row_stream(records->works[work].stream))
            return host;
        if (sl__is_plain(host)
            && strstr(sl_timeline_text(records->timeline, host->call.name), "EventRecord"))
            return host;
    }
    return NULL;
}

/* A synchronisation with an event that the file does not name: the host went on soon after the
 * work had ended behind which the event was recorded. */
static void guess_event(const waits *w, sl__host *host, size_t position)
{
    const sl__match *m = w->match;
    size_t low = ended_before(w, host);
    for (size_t i = 0; i < LOOK_BACK && low-- > 0; i++) {
        const ending *last = &w->by_end[low];
        if (last->end_ns <= host->call.host_start_ns
            || host->call.host_end_ns - last->end_ns > EVENT_SOON_NS)
            return;
        sl__host *record = m->position[last->work] < position
                               ? record_behind(m, last->work, position)
                               : NULL;
        if (!record) continue;
        record->call.kind = SL_CALL_EVENT_RECORD;
        record->stream = sl__row_stream(m->records->works[last->work].stream);
        host->call.target = record->call.correlation;
        host->target_stream = record->stream;
        return;
    }
}

/* ---- loops that ask ------------------------------------------------------------------- */

static uint64_t thread_at(const sl__match *m, size_t i)
{
    const sl__host *host = call_at(m, i);
    return host ? host->thread : m->records->works[m->items[i].index].thread;
}

/* A call that only tells something, as cudaGetDevice. */
static bool is_in_passing(const sl__match *m, const sl__host *host)
{
    static const char *const words[] = { "Get", "Peek", "IsCapturing", "SetDevice" };
    const char *name = sl_timeline_text(m->records->timeline, host->call.name);
    bool tells = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        tells |= strstr(name, words[i]) != NULL;
    return tells && sl__is_plain(host) && !host->launch;
}

/* The next question of the loop of `first`, behind number `i`; 0: there is none. Other threads do
 * what they want meanwhile. */
static size_t next_question(const sl__match *m, const sl__host *first, size_t i)
{
    for (size_t end = i + LOOK_BACK; ++i < m->n_items && i <= end;) {
        const sl__host *host = call_at(m, i);
        if (thread_at(m, i) != first->thread) continue;
        if (host && host->does == first->does) return i;
        if (!host || !is_in_passing(m, host)) break;
    }
    return 0;
}

/* The record, or for a question about a stream the work itself, that ended between the last
 * question that found it open, and the one that found it done. */
static bool is_answered(const waits *w, sl__host *first, const sl__host *open, const sl__host *done,
                        size_t position)
{
    const sl__match *m = w->match;
    size_t low = ended_before(w, done);
    for (size_t i = 0; i < LOOK_BACK && low-- > 0; i++) {
        const ending *last = &w->by_end[low];
        if (last->end_ns <= open->call.host_start_ns) return false;
        if (m->position[last->work] > position) continue;
        sl__host *record = first->does == SL__DOES_ASK_EVENT
                               ? record_behind(m, last->work, position)
                               : NULL;
        if (!record
            && (first->does == SL__DOES_ASK_EVENT || !is_last_before(m, last->work, position)))
            continue;
        first->stream = sl__row_stream(m->records->works[last->work].stream);
        if (!record) return true;
        record->call.kind = SL_CALL_EVENT_RECORD;
        record->stream = first->target_stream = first->stream;
        first->stream = SL__NO_STREAM;
        first->call.target = record->call.correlation;
        return true;
    }
    return false;
}

/* A loop of cudaEventQuery or cudaStreamQuery that issued nothing, and ended when what it asked for
 * was done: the host waited as in a synchronisation. Its first question becomes that, and what else
 * its thread did is part of it. */
static void take_loop(const waits *w, size_t from)
{
    const sl__match *m = w->match;
    sl__host *first = call_at(m, from);
    size_t n = 1, open = from, done = from;
    if (!first || !asks(first)) return;
    for (size_t next; (next = next_question(m, first, done)) != 0; n++) {
        open = done;
        done = next;
        call_at(m, next)->does = SL__DOES_OTHER; /* each question is of one loop */
    }
    if (n < LEAST_QUESTIONS || !is_answered(w, first, call_at(m, open), call_at(m, done), from))
        return;
    first->call.kind = first->does == SL__DOES_ASK_EVENT ? SL_CALL_EVENT_SYNC : SL_CALL_STREAM_SYNC;
    first->call.host_end_ns = call_at(m, done)->call.host_end_ns;
    first->explained = true;
    m->records->doubted[SL_DOUBT_ASKING_LOOPS].n++;
    for (size_t i = from + 1; i <= done; i++)
        if (thread_at(m, i) == first->thread) call_at(m, i)->is_part = true;
}

/* ---- calls that may wait --------------------------------------------------------------- */

typedef void visit(const waits *w, sl__host *host, size_t position, int64_t last_end_ns);

/* Which of recorded processes made the call: a process waits for its own work. */
static size_t process_of(const sl__match *m, const sl__host *host)
{
    const uint64_t process = host->call.correlation >> SL__PROCESS_BITS;
    return m->records->recorded && process < SL__MOST_SPOOLS ? (size_t)process : 0;
}

/* All calls in order of issue, each with the latest end of the work that its process issued
 * before. */
static sl_status for_each_call(const waits *w, visit *each, sl_error *err)
{
    const sl__match *m = w->match;
    for (size_t i = 0; i < SL__MOST_SPOOLS; i++)
        w->last_end_ns[i] = INT64_MIN;
    for (size_t i = 0; i < m->n_items; i++) {
        const sl__issued *it = &m->items[i];
        const sl__work *work = it->call ? NULL : &m->records->works[it->index];
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (!work) {
            sl__host *host = &m->records->hosts[it->index];
            each(w, host, i, w->last_end_ns[process_of(m, host)]);
        } else {
            int64_t *last_end_ns = &w->last_end_ns[work->process];
            *last_end_ns = sl__max(*last_end_ns, work->span.end_ns);
        }
    }
    return SL_OK;
}

static void note_early_return(const waits *w, sl__host *host, size_t position, int64_t last_end_ns)
{
    int64_t took_ns = host->call.host_end_ns - host->call.host_start_ns;
    int64_t *early_ns = &w->early_ns[host->call.name];
    (void)position;
    if (last_end_ns > host->call.host_end_ns + CLOCKS_NS && took_ns > NOTHING_NS)
        *early_ns = sl__max(*early_ns, took_ns);
}

static bool returned_soon(const sl__host *host, int64_t last_end_ns)
{
    return last_end_ns > host->call.host_start_ns && last_end_ns <= host->call.host_end_ns
           && host->call.host_end_ns - last_end_ns <= SOON_NS;
}

/* Compared with other calls of its name that did not wait. */
static bool is_beyond_chance(const sl__host *host, int64_t last_end_ns, int64_t early_ns)
{
    int64_t took_ns = host->call.host_end_ns - host->call.host_start_ns;
    int64_t after_ns = host->call.host_end_ns - last_end_ns;
    return early_ns == 0 || (took_ns / MANY_TIMES > early_ns && after_ns <= took_ns / CHANCE);
}

static void infer_wait(const waits *w, sl__host *host, size_t position, int64_t last_end_ns)
{
    if (has_no_stream(host)) guess_stream(w, host, position);
    if (has_no_event(host)) guess_event(w, host, position);
    if (sl__is_plain(host) && host->does == SL__DOES_WAIT_MAYBE)
        host->call.waited_for_device = returned_soon(host, last_end_ns)
                                       && is_beyond_chance(host, last_end_ns,
                                                           w->early_ns[host->call.name]);
}

sl_status sl__infer_waits(const sl__match *match, sl_error *err)
{
    const sl__records *records = match->records;
    if (records->own) return SL_OK;
    const bool needs = needs_ends(match);
    size_t n_names = sl_timeline_text_count(records->timeline);
    waits w = {
        .match = match,
        .by_end = calloc(needs ? records->n_works + 1 : 1, sizeof *w.by_end),
        .early_ns = calloc(n_names + 1, sizeof *w.early_ns),
        .last_end_ns = calloc(SL__MOST_SPOOLS, sizeof *w.last_end_ns),
    };
    sl_status status = SL_OK;
    if (!w.by_end || !w.early_ns || !w.last_end_ns)
        status = sl__no_memory(err, "%zu events of a trace", match->n_items);
    if (status == SL_OK) {
        if (needs) sort_ends(&w);
        status = for_each_call(&w, note_early_return, err);
    }
    if (status == SL_OK) status = for_each_call(&w, infer_wait, err);
    for (size_t i = 0; status == SL_OK && i < match->n_items; i++)
        take_loop(&w, i);
    free(w.by_end);
    free(w.early_ns);
    free(w.last_end_ns);
    return status;
}
