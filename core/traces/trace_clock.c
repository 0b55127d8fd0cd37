/* trace_clock.c - whether the GPU's clock is that of the host, in a foreign trace.
 *
 * An operation starts after the call that launched it has begun, and ends before a call that waited
 * for it returns. Each launch says by how much at least the GPU's times have to be moved, and each
 * wait by how much at most. Where most of those that could show it say that they must be moved,
 * they are: to the middle of what both allow, if that is known closely, else as little as possible.
 * Of launches only those into a stream that was idle could show it; where few could, no wait may
 * speak against it. Others that start before their calls are counted, and believed.
 */
#include "trace_match.h"

#include <stdlib.h>

#include "../timeline/overlap.h"
#include "../timeline/store.h"

#define TOLERANCE_NS 1000 /* older traces count whole microseconds */
#define CLOSELY_NS 100000 /* between what a launch and a wait allow */
#define MANY 3            /* fewer launches may all be damaged */
#define STRAY_PERCENT 1   /* of those that must be moved so many may be damaged */

/* An operation, by what it was issued to: a stream, or the device. */
typedef struct issued {
    int64_t stream, host_start_ns, end_ns; /* end_ns: the latest one so far */
} issued;

/* What one side says. */
typedef struct side {
    int64_t *ns; /* by how much each breaks the rule; < 0: it does not */
    size_t n, n_broken, n_telling;
} side;

typedef struct clock {
    sl__records *records;
    int64_t device;
    issued *by_stream, *by_device; /* by_device: NULL until a wait for the device needs it */
    size_t n;                      /* operations whose calls are known */
    int64_t last_ns;
    side launches, waits;
} clock;

SL__ORDER(by_stream_and_issue, issued, x->stream, x->host_start_ns, x->end_ns);

SL__ORDER(downwards, int64_t, SL__DOWN(*x));

/* ---- what is known --------------------------------------------------------------------- */

static void note(side *s, int64_t broken_ns, bool tells)
{
    bool broken = broken_ns > TOLERANCE_NS;
    s->ns[s->n++] = broken_ns;
    s->n_broken += broken;
    s->n_telling += broken || tells;
}

/* The works are in order of device, stream and start. */
static void look_at_launches(clock *c)
{
    const sl__records *records = c->records;
    int64_t free_ns = INT64_MIN;
    for (size_t i = 0; i < records->n_works; i++) {
        const sl__work *work = &records->works[i];
        const sl__host *host = sl__launch_find(records, work);
        bool first = i == 0 || work->device != work[-1].device || work->stream != work[-1].stream;
        if (first) free_ns = INT64_MIN;
        if (host && work->device == c->device) {
            int64_t call_ns = host->call.host_start_ns;
            note(&c->launches, call_ns - work->span.start_ns, free_ns <= call_ns);
            c->by_stream[c->n++] = (issued){ work->stream, call_ns, work->span.end_ns };
        }
        free_ns = sl__max(free_ns, work->span.end_ns);
        c->last_ns = sl__max(c->last_ns, work->span.end_ns);
    }
}

static void sort(issued *all, size_t n)
{
    sl__sort(all, n, sizeof *all, by_stream_and_issue);
    for (size_t i = 1; i < n; i++)
        if (all[i].stream == all[i - 1].stream)
            all[i].end_ns = sl__max(all[i].end_ns, all[i - 1].end_ns);
}

static sl_status sort_by_device(clock *c, sl_error *err)
{
    c->by_device = calloc(c->n + 1, sizeof *c->by_device);
    if (!c->by_device) return sl__no_memory(err, "%zu events of a trace", c->n);
    for (size_t i = 0; i < c->n; i++)
        c->by_device[i] = (issued){ SL__NO_STREAM, c->by_stream[i].host_start_ns,
                                    c->by_stream[i].end_ns };
    sort(c->by_device, c->n);
    return SL_OK;
}

/* When all that was issued to the stream before `ns` had ended; INT64_MIN: nothing was. */
static int64_t end_of_earlier(const issued *all, size_t n, int64_t stream, int64_t ns)
{
    size_t at;
    SL__SEARCH(at, n,
               all[at].stream < stream || (all[at].stream == stream && all[at].host_start_ns < ns));
    return at > 0 && all[at - 1].stream == stream ? all[at - 1].end_ns : INT64_MIN;
}

static void look_at_wait(clock *c, const sl__host *host, int64_t stream)
{
    const sl_call *call = &host->call;
    const issued *all = stream == SL__NO_STREAM ? c->by_device : c->by_stream;
    int64_t end_ns = end_of_earlier(all, c->n, stream, call->host_start_ns);
    if (end_ns > INT64_MIN)
        note(&c->waits, end_ns - call->host_end_ns, end_ns > call->host_start_ns);
}

/* Synchronisations of streams that the file names, and of this device. Where it has several, or
 * several processes, others are not known to have waited for all that is in the file. */
static sl_status look_at_waits(clock *c, bool several, sl_error *err)
{
    const sl__records *records = c->records;
    sl_status status = SL_OK;
    for (size_t i = 0; i < records->n_syncs; i++) {
        const sl__sync *sync = &records->syncs[i];
        sl__host *host = sl__host_find(records, sync->correlation, false);
        if (!host) continue;
        host->explained = true;
        host->elsewhere |= sync->device != c->device;
        if (host->call.kind == SL_CALL_STREAM_SYNC && !host->elsewhere
            && sync->stream != SL__NO_STREAM)
            look_at_wait(c, host, sync->stream);
    }
    for (size_t i = 0; i < records->n_hosts && status == SL_OK; i++) {
        const sl__host *host = &records->hosts[i];
        if (host->call.kind != SL_CALL_DEVICE_SYNC || host->elsewhere
            || !(host->explained || !several))
            continue;
        if (!c->by_device) status = sort_by_device(c, err);
        if (status == SL_OK) look_at_wait(c, host, SL__NO_STREAM);
    }
    return status;
}

/* ---- what follows ------------------------------------------------------------------------- */

/* How much the side says at least, but for strays; INT64_MIN: it says nothing. Those that break the
 * rule come first, in order. */
static int64_t least_ns(side *s)
{
    size_t n = 0;
    int64_t most_ns = INT64_MIN;
    for (size_t i = 0; i < s->n; i++) {
        const int64_t ns = s->ns[i];
        most_ns = sl__max(most_ns, ns);
        if (ns <= TOLERANCE_NS) continue;
        s->ns[i] = s->ns[n];
        s->ns[n++] = ns;
    }
    if (n == 0) return most_ns;
    sl__sort(s->ns, n, sizeof *s->ns, downwards);
    return s->ns[n * STRAY_PERCENT / 100];
}

static bool is_systematic(const side *s, size_t many)
{
    return s->n_broken * 2 >= s->n_telling && s->n_broken > 0
           && (s->n_broken >= many || s->n_broken == s->n);
}

/* Between `near_ns`, which is needed, and `far_ns`, which is the most. */
static int64_t between(int64_t near_ns, int64_t far_ns)
{
    bool closely = far_ns >= near_ns && far_ns - near_ns <= CLOSELY_NS;
    return closely ? near_ns + (far_ns - near_ns) / 2 : near_ns;
}

/* Whether so much later is right: of all launches most ask for it, or no wait speaks against it. */
static bool may_move(const clock *c, int64_t launch_ns, int64_t wait_ns)
{
    return c->launches.n_broken * 2 >= c->launches.n || wait_ns == INT64_MIN
           || launch_ns <= TOLERANCE_NS - wait_ns;
}

/* How much later the operations are to be shown. */
static int64_t choose_shift_ns(clock *c)
{
    bool early = is_systematic(&c->launches, MANY), late = is_systematic(&c->waits, 1);
    int64_t launch_ns = least_ns(&c->launches), wait_ns = least_ns(&c->waits);
    if (early && !late && may_move(c, launch_ns, wait_ns)
        && launch_ns < SL__TIME_LIMIT_NS - c->last_ns)
        return between(launch_ns, wait_ns == INT64_MIN ? INT64_MAX / 2 : -wait_ns);
    if (late && !early && c->launches.n > 0 && -launch_ns >= wait_ns)
        return -between(wait_ns, -launch_ns);
    return 0;
}

static void move(clock *c, sl__match *m, int64_t shift_ns)
{
    sl__records *records = c->records;
    for (size_t i = 0; i < records->n_works; i++) {
        sl__work *work = &records->works[i];
        if (work->device != c->device) continue;
        work->span.start_ns += shift_ns;
        work->span.end_ns += shift_ns;
        work->span.host_start_ns += shift_ns;
        work->span.host_end_ns += shift_ns;
    }
    if (shift_ns > 0) records->last_ns += shift_ns;
    if (m->origin.first_ns < m->origin.last_ns) {
        m->origin.first_ns += sl__min(shift_ns, 0);
        m->origin.last_ns += sl__max(shift_ns, 0);
    }
}

/* Those that still break the rule, after it is broken by so much more. */
static sl__doubted left_of(const side *s, int64_t more_ns)
{
    sl__doubted left = { .of = s->n };
    for (size_t i = 0; i < s->n; i++) {
        if (s->ns[i] + more_ns <= TOLERANCE_NS) continue;
        left.n++;
        left.ns = sl__max(left.ns, s->ns[i] + more_ns);
    }
    return left;
}

static void doubt(const clock *c, int64_t shift_ns)
{
    sl__doubted *all = c->records->doubted;
    if (shift_ns != 0) {
        bool early = shift_ns > 0;
        const side *s = early ? &c->launches : &c->waits;
        all[early ? SL_DOUBT_CLOCK_EARLY : SL_DOUBT_CLOCK_LATE] = (sl__doubted){
            .n = s->n_broken, .of = s->n, .ns = early ? shift_ns : -shift_ns
        };
    }
    all[SL_DOUBT_BEFORE_CALL] = left_of(&c->launches, -shift_ns);
    all[SL_DOUBT_AFTER_WAIT] = left_of(&c->waits, shift_ns);
}

static sl_status clock_open(clock *c, sl_error *err)
{
    const sl__records *records = c->records;
    size_t n = records->n_works + 1, n_waits = records->n_hosts + records->n_syncs + 1;
    c->by_stream = calloc(n, sizeof *c->by_stream);
    c->launches.ns = calloc(n, sizeof *c->launches.ns);
    c->waits.ns = calloc(n_waits, sizeof *c->waits.ns);
    bool all = c->by_stream && c->launches.ns && c->waits.ns;
    return all ? SL_OK : sl__no_memory(err, "%zu events of a trace", n);
}

static void clock_close(clock *c)
{
    free(c->by_stream);
    free(c->by_device);
    free(c->launches.ns);
    free(c->waits.ns);
}

sl_status sl__clock_settle(sl__match *m, sl_error *err)
{
    clock c = { .records = m->records, .device = m->device };
    if (m->records->own) return SL_OK;
    sl_status status = clock_open(&c, err);
    if (status == SL_OK) {
        look_at_launches(&c);
        sort(c.by_stream, c.n);
        bool processes = m->records->doubted[SL_DOUBT_PROCESSES].n > 0;
        if (!processes) status = look_at_waits(&c, m->devices.len > 0, err);
    }
    if (status == SL_OK) {
        int64_t shift_ns = choose_shift_ns(&c);
        if (shift_ns != 0) move(&c, m, shift_ns);
        doubt(&c, shift_ns);
        status = sl_interrupt_check(err);
    }
    clock_close(&c);
    return status;
}
