/* Placement by groups and cohorts against a simulation of single SMs and single
 * blocks: random kernels, arrival times and priorities, compared to the nanosecond.
 * All blocks of a case have one size, so that SMs with equal room are alike and
 * ties cannot matter. */
#include "small_gpu.h"

#include "../tap.h"

enum { CASES = 300, MOST_KERNELS = 24, MOST_BLOCKS = 64, SMS = 4 };

typedef struct kernel {
    int64_t arrives_ns, duration_ns;
    int blocks, level;
    int left, running;          /* of the reference */
    int64_t starts_ns, ends_ns;
} kernel;

typedef struct block { int sm, kernel; int64_t ends_ns; } block;

typedef struct reference {
    kernel *k;
    int n, per_sm;
    int held[SMS];
    block running[SMS * 8];
    int n_running;
} reference;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- the reference: one block at a time ------------------------------------------ */

/* The SM with the most room; -1 if all are full. */
static int roomiest(const reference *r)
{
    int best = -1;
    for (int i = 0; i < SMS; i++)
        if (r->held[i] < r->per_sm && (best < 0 || r->held[i] < r->held[best]))
            best = i;
    return best;
}

/* The kernel whose blocks may be placed: most urgent level, then arrival. */
static kernel *head_of_queue(const reference *r, int64_t now_ns)
{
    kernel *head = NULL;
    for (int i = 0; i < r->n; i++) {
        kernel *k = &r->k[i];
        if (k->left > 0 && k->arrives_ns <= now_ns && (!head || k->level > head->level))
            head = k;
    }
    return head;
}

static void place_blocks(reference *r, int64_t now_ns)
{
    for (;;) {
        kernel *k = head_of_queue(r, now_ns);
        int sm = roomiest(r);
        if (!k || sm < 0)
            return;
        if (k->left == k->blocks)
            k->starts_ns = now_ns;
        k->left--;
        r->held[sm]++;
        r->running[r->n_running++] = (block){sm, (int)(k - r->k), now_ns + k->duration_ns};
    }
}

static int64_t next_time(const reference *r, int64_t now_ns)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < r->n_running; i++)
        if (r->running[i].ends_ns < next)
            next = r->running[i].ends_ns;
    for (int i = 0; i < r->n; i++)
        if (r->k[i].arrives_ns > now_ns && r->k[i].arrives_ns < next)
            next = r->k[i].arrives_ns;
    return next;
}

static void end_blocks(reference *r, int64_t now_ns)
{
    for (int i = r->n_running - 1; i >= 0; i--) {
        if (r->running[i].ends_ns > now_ns)
            continue;
        r->held[r->running[i].sm]--;
        r->k[r->running[i].kernel].ends_ns = now_ns;
        r->running[i] = r->running[--r->n_running];
    }
}

static void run_reference(reference *r)
{
    for (int64_t now_ns = 0; now_ns != INT64_MAX; now_ns = next_time(r, now_ns)) {
        end_blocks(r, now_ns);
        place_blocks(r, now_ns);
    }
}

/* ---- the product ------------------------------------------------------------------- */

static bool issue(sl_device *device, const kernel *k, int threads, sl_stream **stream)
{
    sl_stream_options options = {.priority = -k->level, .non_blocking = true};
    int64_t wait_ns = k->arrives_ns - sl_device_host_now_ns(device);
    sl_spin_options spin = {.duration_ns = k->duration_ns, .blocks = k->blocks, .threads = threads};
    return sl_device_host_work(device, wait_ns, NULL) == SL_OK
           && sl_stream_create(device, &options, stream, NULL) == SL_OK
           && sl_spin(&spin, *stream, NULL) == SL_OK;
}

/* How many kernels differ from the reference in start or end. */
static int compare(const reference *r, int threads)
{
    sl_error err = {0};
    sl_device *device = small_gpu_open(NULL, 0, &err);
    sl_stream *stream[MOST_KERNELS] = {NULL};
    sl_timeline *timeline = NULL;
    int wrong = 0;
    size_t n = 0;
    if (!device || sl_record_start(device, &timeline, &err) != SL_OK) {
        diag("%s", err.msg);
        return r->n;
    }
    for (int i = 0; i < r->n; i++)
        wrong += !issue(device, &r->k[i], threads, &stream[i]);
    wrong += sl_device_synchronize(device, NULL) != SL_OK;
    sl_record_stop(device, timeline);
    const sl_span *span = sl_timeline_spans(timeline, &n);
    wrong += (int)n != r->n;
    for (size_t i = 0; i < n; i++)
        wrong += span[i].start_ns != r->k[i].starts_ns || span[i].end_ns != r->k[i].ends_ns;
    sl_timeline_release(timeline);
    for (int i = 0; i < r->n; i++)
        sl_stream_release(stream[i]);
    sl_device_drain(device);
    sl_device_release(device);
    return wrong;
}

static int run_case(uint32_t seed)
{
    uint32_t random = seed;
    kernel k[MOST_KERNELS] = {{0}};
    reference r = {.k = k, .n = 2 + (int)(next_random(&random) % (MOST_KERNELS - 2))};
    int threads = 128 << (next_random(&random) % 4);        /* 8, 4, 2 or 1 a SM */
    int64_t at_ns = 0;
    r.per_sm = 1024 / threads;
    for (int i = 0; i < r.n; i++) {
        at_ns += (int64_t)(next_random(&random) % 3) * 700;
        k[i].arrives_ns = at_ns + i;    /* never at another's end: all else is in 100 ns */
        k[i].duration_ns = 100 * (1 + (int64_t)(next_random(&random) % 30));
        k[i].blocks = k[i].left = 1 + (int)(next_random(&random) % MOST_BLOCKS);
        k[i].level = (int)(next_random(&random) % 3);
    }
    run_reference(&r);
    return compare(&r, threads);
}

int main(void)
{
    plan(1);
    int wrong = 0;
    for (uint32_t seed = 1; seed <= CASES; seed++) {
        int here = run_case(seed * 7919u);
        if (here && !wrong)
            diag("first difference at case %u: %d kernels", seed, here);
        wrong += here;
    }
    is_int(wrong, 0, "%d random mixes of kernels start and end when a block-by-block model says",
           CASES);
    return done_testing();
}
