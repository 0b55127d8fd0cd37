/* Placement by groups and cohorts against a simulation of single SMs and single
 * blocks: random kernels, block sizes, shared memory, arrival times and priorities,
 * compared to the nanosecond. */
#include "small_gpu.h"

#include "../kept.h"
#include "../tap.h"

enum { CASES = 300, MOST_KERNELS = 24, MOST_BLOCKS = 64, SMS = 4 };

typedef struct kernel {
    int64_t arrives_ns, duration_ns;
    int blocks, level, threads, shared_bytes;
    int left, running; /* of the reference */
    int64_t starts_ns, ends_ns;
} kernel;

typedef struct block {
    int sm, kernel;
    int64_t ends_ns;
} block;

typedef struct sm_room {
    int threads, blocks, registers, shared_bytes;
} sm_room; /* free */

typedef struct reference {
    kernel *k;
    int n;
    sm_room sm[SMS];
    block running[SMS * 8];
    int n_running;
} reference;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- the reference: one block at a time ------------------------------------------ */

/* How many more blocks of the kernel an SM holds; a spin has 16 registers a thread. */
static int room(const sm_room *sm, const kernel *k)
{
    int room = sm->blocks;
    if (sm->threads / k->threads < room) room = sm->threads / k->threads;
    if (sm->registers / (16 * k->threads) < room) room = sm->registers / (16 * k->threads);
    if (k->shared_bytes && sm->shared_bytes / k->shared_bytes < room)
        room = sm->shared_bytes / k->shared_bytes;
    return room;
}

/* Takes (1) or gives back (-1) what a block needs. */
static void occupy(sm_room *sm, const kernel *k, int sign)
{
    sm->threads -= sign * k->threads;
    sm->blocks -= sign;
    sm->registers -= sign * 16 * k->threads;
    sm->shared_bytes -= sign * k->shared_bytes;
}

/* The SM with the most room for the kernel, the first of equals; -1 if there is none. */
static int roomiest(const reference *r, const kernel *k)
{
    int best = -1, most = 0;
    for (int i = 0; i < SMS; i++) {
        if (room(&r->sm[i], k) > most) {
            most = room(&r->sm[i], k);
            best = i;
        }
    }
    return best;
}

/* The kernel whose blocks may be placed: most urgent level, then arrival. */
static kernel *head_of_queue(const reference *r, int64_t now_ns)
{
    kernel *head = NULL;
    for (int i = 0; i < r->n; i++) {
        kernel *k = &r->k[i];
        if (k->left > 0 && k->arrives_ns <= now_ns && (!head || k->level > head->level)) head = k;
    }
    return head;
}

static void place_blocks(reference *r, int64_t now_ns)
{
    for (;;) {
        kernel *k = head_of_queue(r, now_ns);
        int sm = k ? roomiest(r, k) : -1;
        if (sm < 0) return;
        if (k->left == k->blocks) k->starts_ns = now_ns;
        k->left--;
        occupy(&r->sm[sm], k, 1);
        r->running[r->n_running++] = (block){ sm, (int)(k - r->k), now_ns + k->duration_ns };
    }
}

static int64_t next_time(const reference *r, int64_t now_ns)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < r->n_running; i++)
        if (r->running[i].ends_ns < next) next = r->running[i].ends_ns;
    for (int i = 0; i < r->n; i++)
        if (r->k[i].arrives_ns > now_ns && r->k[i].arrives_ns < next) next = r->k[i].arrives_ns;
    return next;
}

static void end_blocks(reference *r, int64_t now_ns)
{
    for (int i = r->n_running - 1; i >= 0; i--) {
        if (r->running[i].ends_ns > now_ns) continue;
        kernel *k = &r->k[r->running[i].kernel];
        occupy(&r->sm[r->running[i].sm], k, -1);
        k->ends_ns = now_ns;
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

static bool issue(sl_device *device, const kernel *k, sl_stream **stream)
{
    sl_stream_options options = { .priority = -k->level, .non_blocking = true };
    int64_t wait_ns = k->arrives_ns - sl_device_host_now_ns(device);
    sl_spin_options spin = {
        .duration_ns = k->duration_ns,
        .blocks = k->blocks,
        .threads = k->threads,
        .shared_bytes = k->shared_bytes,
    };
    return sl_device_host_work(device, wait_ns, NULL) == SL_OK
           && sl_stream_create(device, &options, stream, NULL) == SL_OK
           && sl_spin(&spin, *stream, NULL) == SL_OK;
}

/* How many kernels differ from the reference in start or end. */
static int compare(const reference *r)
{
    sl_error err = { 0 };
    sl_device *device = small_gpu_open(NULL, 0, &err);
    sl_stream *stream[MOST_KERNELS] = { NULL };
    sl_timeline *timeline = NULL;
    int wrong = 0;
    size_t n = 0;
    if (!device || sl_record_start(device, "test", &timeline, &err) != SL_OK) {
        diag("%s", err.msg);
        return r->n;
    }
    for (int i = 0; i < r->n; i++)
        wrong += !issue(device, &r->k[i], &stream[i]);
    wrong += sl_device_synchronize(device, NULL) != SL_OK;
    sl_record_stop(device, timeline);
    const sl_span *span = spans_of(timeline, &n);
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
    kernel k[MOST_KERNELS] = { { 0 } };
    reference r = { .k = k, .n = 2 + (int)(next_random(&random) % (MOST_KERNELS - 2)) };
    for (int i = 0; i < SMS; i++)
        r.sm[i] = (sm_room){ 1024, 8, 65536, 65536 };
    int64_t at_ns = 0;
    for (int i = 0; i < r.n; i++) {
        at_ns += (int64_t)(next_random(&random) % 3) * 700;
        k[i].arrives_ns = at_ns + i; /* never at another's end: all else is in 100 ns */
        k[i].duration_ns = 100 * (1 + (int64_t)(next_random(&random) % 30));
        k[i].blocks = k[i].left = 1 + (int)(next_random(&random) % MOST_BLOCKS);
        k[i].level = (int)(next_random(&random) % 3);
        k[i].threads = 32 << (next_random(&random) % 6);
        k[i].shared_bytes = (int)(next_random(&random) % 4) * 8000;
    }
    run_reference(&r);
    return compare(&r);
}

int main(void)
{
    plan(1);
    int wrong = 0;
    for (uint32_t seed = 1; seed <= CASES; seed++) {
        int here = run_case(seed * 7919u);
        if (here && !wrong) diag("first difference at case %u: %d kernels", seed, here);
        wrong += here;
    }
    is_int(wrong, 0, "%d random mixes of kernels start and end when a block-by-block model says",
           CASES);
    return done_testing();
}
