/* t-24-wait-experiments.c - what the simulator says of each operation's waits, by experiment on random
 * programs: where a constraint is said to have held an operation, the operation is ready earlier
 * without that constraint, for the first that it held; and a constraint that is said nowhere changes
 * nothing at all when it is taken away. */
#include "wait_programs.h"

enum { PROGRAMS = 400 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int pick(uint32_t *state, int n) { return (int)(next_random(state) % (uint32_t)n); }

/* Kernels of one block: they are placed whole or not at all. Odd durations, so that two
 * reasons hardly ever end at once. */
static step random_step(uint32_t *random)
{
    static const kind often[] = {
        SPIN, SPIN, SPIN, SPIN, H2D, H2D, D2H, RECORD, RECORD, WAIT, WAIT, WAIT, WORK, SYNC,
    };
    step s = {
        .kind = often[pick(random, (int)(sizeof often / sizeof *often))],
        .stream = pick(random, STREAMS),
        .blocks = 1,
        .threads = 512 << pick(random, 2),
    };
    s.n = 1001 + pick(random, 20000);
    s.pageable = pick(random, 4) == 0;
    if (s.kind == H2D || s.kind == D2H) s.n *= s.pageable ? 97 : 10;
    if (s.kind == RECORD || s.kind == WAIT) s.n = pick(random, EVENTS);
    if ((s.kind == RECORD || s.kind == WAIT || s.kind == SYNC) && s.stream == 0)
        s.stream = 1; /* the barrier would end with it; or the host knows barriers too */
    if (s.kind == SYNC && pick(random, 3) > 0)
        s = (step){ .kind = WORK, .n = 501 + pick(random, 5000) };
    return s;
}

static program random_program(uint32_t seed)
{
    program p = {.n = 20 + (int)(seed % (MOST_STEPS - 20)),
                 .more = {{"stream_gap_us", 1.103}, {"cross_stream_us", 1.409},
                          {"submit_us", 2.603}, {"host.launch_us", 3.807},
                          {"record_us", 2.153}, {"wake_us", 1.901},
                          {"connections", 64}, {"copy_connections", 64},},
                 .n_more = 8,};
    uint32_t random = seed * 7919u;
    for (int i = 1; i < STREAMS; i++)
        p.non_blocking[i] = pick(&random, 3) == 0;
    if (pick(&random, 2) == 0) p.more[6].value = p.more[7].value = 2;
    for (int i = 0; i < p.n; i++)
        p.step[i] = random_step(&random);
    return p;
}

static bool same_spans(const sl_timeline *a, const sl_timeline *b)
{
    size_t n, m;
    const sl_span *x = spans_of(a, &n), *y = spans_of(b, &m);
    bool same = n == m;
    for (size_t i = 0; same && i < n; i++)
        same = x[i].start_ns == y[i].start_ns && x[i].end_ns == y[i].end_ns;
    return same;
}

/* What came of taking single constraints away. */
typedef struct verdict {
    int held, ties, free_of_it, wrong, reordered;
} verdict;

/* Another reason that ended at the very same time. */
static bool is_tie(const sl_hold *a, const sl_hold *b)
{
    return a->ready_ns == b->ready_ns
           && (a->ready_cause != b->ready_cause || a->ready_by != b->ready_by);
}

/* The step that starts at another time than in the other timeline, the first of them in time;
 * -1: none. */
static int first_difference(const program *p, const sl_timeline *a, const sl_timeline *b,
                            int64_t *first_ns)
{
    int first = -1;
    *first_ns = INT64_MAX;
    for (int i = 0; i < p->n; i++) {
        int64_t x_ns = start_of(a, i), y_ns = start_of(b, i);
        int64_t at_ns = x_ns < y_ns ? x_ns : y_ns;
        if (hold_of(a, i) && x_ns != y_ns && at_ns < *first_ns) {
            first = i;
            *first_ns = at_ns;
        }
    }
    return first;
}

/* Whether another copy in the direction of `at` was there to move at that time, or came within
 * the gap for which an engine waits for the next one of its channel. */
static bool has_rival(const program *p, const sl_timeline *timeline, int at, int64_t at_ns)
{
    const int64_t until_ns = at_ns + (int64_t)(p->more[0].value * 1e3 + 0.5);
    for (int i = 0; i < p->n; i++) {
        const sl_span *span = span_of(timeline, (uint64_t)i + 1);
        if (i != at && p->step[i].kind == p->step[at].kind && span && span->end_ns > at_ns
            && hold_of(timeline, i)->ready_ns <= until_ns)
            return true;
    }
    return false;
}

/* An engine that may take either of two copies takes that of the channel which it has just
 * served (copies.c). So who shares a channel is not only a constraint but decides an order as
 * well, and in another order some copies are later, though nothing holds them any more (as
 * Graham found of schedules in 1966). Exactly so where the timelines are the same up to a
 * copy, which is ready in both at the same time and starts in one of them only, and there was
 * another one that the engine could take. */
static bool is_reordered(const program *p, const sl_timeline *before, const sl_timeline *after)
{
    int64_t at_ns;
    int at = first_difference(p, before, after, &at_ns);
    return at >= 0 && (p->step[at].kind == H2D || p->step[at].kind == D2H)
           && hold_of(before, at)->ready_ns == hold_of(after, at)->ready_ns
           && (has_rival(p, before, at, at_ns) || has_rival(p, after, at, at_ns));
}

/* `first` is the step that the constraint held first, or -1. */
static void compare(const program *p, const sl_timeline *before, const program *relaxed, int first,
                    bool until_start, verdict *v)
{
    sl_timeline *after = run(relaxed);
    bool right = first < 0 && same_spans(before, after);
    if (first >= 0) {
        const sl_hold *a = hold_of(before, first), *b = hold_of(after, first);
        right = until_start ? start_of(after, first) < start_of(before, first)
                            : b->ready_ns < a->ready_ns;
        v->ties += !right && !until_start && is_tie(a, b);
        right = right || (!until_start && is_tie(a, b));
    }
    bool shares = p->more[6].value != relaxed->more[6].value;
    bool reordered = !right && shares && is_reordered(p, before, after);
    v->held += first >= 0;
    v->free_of_it += first < 0;
    v->reordered += reordered;
    v->wrong += !right && !reordered;
    if (!right && !reordered) diag("program of %d steps, step %d", p->n, first);
    sl_timeline_release(after);
}

typedef bool (*held_fn)(const program *p, const sl_hold *hold, int at, int stream);

/* The step that was held first, in time. */
static int first_held(const program *p, const sl_timeline *timeline, held_fn held, int stream,
                      bool until_start)
{
    int first = -1;
    int64_t first_ns = INT64_MAX;
    for (int i = 0; i < p->n; i++) {
        const sl_hold *hold = hold_of(timeline, i);
        if (!hold || !held(p, hold, i, stream)) continue;
        int64_t at_ns = until_start ? start_of(timeline, i) : hold->ready_ns;
        if (at_ns < first_ns) {
            first = i;
            first_ns = at_ns;
        }
    }
    return first;
}

static bool by_channel(const program *p, const sl_hold *hold, int at, int stream)
{
    (void)p, (void)at, (void)stream;
    return hold->ready_cause == CHANNEL;
}

static bool by_room(const program *p, const sl_hold *hold, int at, int stream)
{
    (void)p, (void)at, (void)stream;
    return hold->start_cause == ROOM;
}

/* By the barrier between this stream and the NULL stream. */
static bool by_barrier(const program *p, const sl_hold *hold, int at, int stream)
{
    return hold->ready_cause == BARRIER
           && (p->step[at].stream == stream || p->step[hold->ready_by - 1].stream == stream);
}

static void relax_events(const program *p, const sl_timeline *timeline, verdict *v)
{
    for (int i = 0; i < p->n; i++) {
        if (p->step[i].kind != WAIT) continue;
        program relaxed = *p;
        bool told = hold_of(timeline, i)->ready_cause == EVENT;
        relaxed.step[i].kind = UNRELATED_WAIT;
        compare(p, timeline, &relaxed, told ? i : -1, false, v);
    }
}

static void relax_barriers(const program *p, const sl_timeline *timeline, verdict *v)
{
    for (int stream = 1; stream < STREAMS; stream++) {
        program relaxed = *p;
        if (p->non_blocking[stream]) continue;
        relaxed.non_blocking[stream] = true;
        int first = first_held(p, timeline, by_barrier, stream, false);
        compare(p, timeline, &relaxed, first, false, v);
    }
}

static void relax_channels(const program *p, const sl_timeline *timeline, verdict *v)
{
    program relaxed = *p;
    relaxed.more[6].value = relaxed.more[7].value = 64;
    compare(p, timeline, &relaxed, first_held(p, timeline, by_channel, 0, false), false, v);
}

/* One SM for two kernels at most, or a thousand of them. */
static void relax_room(const program *p, verdict *v)
{
    program relaxed = *p;
    relaxed.more[2] = (small_override){ "sm_count", 1000 };
    program same = *p;
    same.more[2] = (small_override){ "sm_count", 1 };
    sl_timeline *before = run(&same);
    compare(p, before, &relaxed, first_held(p, before, by_room, 0, true), true, v);
    sl_timeline_release(before);
}

static void tell(const verdict *v, const char *what)
{
    diag("%s: told %d times, not told %d times, %d ties, %d with copies in another order", what,
         v->held, v->free_of_it, v->ties, v->reordered);
    ok(v->held > 40 && v->free_of_it > 40 && (v->ties + v->reordered) * 10 < v->held,
       "%s are the reason often, often not, and rarely one of two", what);
    is_int(v->wrong, 0,
           "without them the first operation that they held is ready earlier, and "
           "where they held none nothing changes");
}

static void experiments(void)
{
    verdict event = { 0 }, barrier = { 0 }, channel = { 0 }, room_v = { 0 };
    for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
        program p = random_program(seed);
        sl_timeline *timeline = run(&p);
        relax_events(&p, timeline, &event);
        relax_barriers(&p, timeline, &barrier);
        relax_channels(&p, timeline, &channel);
        relax_room(&p, &room_v);
        sl_timeline_release(timeline);
    }
    tell(&event, "waits for events");
    tell(&barrier, "barriers of single streams");
    tell(&channel, "shared channels");
    tell(&room_v, "full SMs");
}

int main(void)
{
    plan(0);
    experiments();
    return done_testing();
}
