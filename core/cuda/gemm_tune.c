/* gemm_tune.c - how a shape is multiplied fastest: measured.
 *
 * A sample is the time between two events around some products that were enqueued while a kernel
 * held the stream, so that the host's time is not in it. Each candidate has one sample; the best
 * few have more, in turn, and their medians decide. Noise is not to choose: the plan in use goes
 * only if another is faster by a margin, and a plan whose result differs between two runs is never
 * taken. One that splits sums is two kernels, and takes two places in the launch queue: it has to
 * save the GPU as much as the second launch costs the host.
 */
#include "gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINALISTS = 5,
    MOST_FINALISTS = FINALISTS + 3, /* and the heuristic's first, the plan in use, and one kernel */
    ROUNDS = 9,                     /* odd, for a median */
    FEW_ROUNDS = 3,
    MOST_LAUNCHES = 16,      /* of a sample */
    COMPARED_BYTES = 1 << 20 /* at a time */
};
static const double sample_us = 200, warm_up_us = 10000;
static const double most_us = 2e6; /* in which large products have fewer samples */
static const double margin = 0.98; /* of the time of the plan in use */
static const double launch_us = 3; /* of the host: 2.1 to 3.9 on those of H100s and of an H200 */

typedef struct tuner {
    cuda_device *dev;
    cuda_stream *stream;
    const lt_tuning *lt;
    gemm_plan *plan;       /* that is tuned */
    gemm_plan trial;       /* the same, with the algorithm that is measured */
    cublasStatus_t failed; /* the latest failure of a product */
    lt_operands operands;
    int set; /* of them that the latest product had */
    cudaEvent_t began, ended;
    lt_candidates candidates;
} tuner;

/* ---- samples ---- */

/* For as long as the host needs to enqueue so many products, about. */
static sl_status hold_stream(const tuner *t, int launches, sl_error *err)
{
    const sl_work spin = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_SPIN,
        .duration_ns = 30000 + 20000 * (int64_t)launches,
        .blocks = 1,
        .threads = 32,
    };
    uint32_t blocks;
    uint16_t threads;
    return cuda_kernel_launch(t->dev, &spin, NULL, NULL, NULL, NULL, t->stream->handle, &blocks,
                              &threads, err);
}

/* With the next operands, or the same again. */
static cublasStatus_t multiply(tuner *t, const lt_candidate *c, bool next)
{
    const lt_operands *o = &t->operands;
    if (next) t->set = (t->set + 1) % o->n;
    t->trial.algo = c->algo;
    t->trial.workspace_bytes = c->workspace_bytes;
    return cuda_gemm_multiply(t->dev, t->stream, &t->trial, cuda_operands_result(o, t->set),
                              cuda_operands_input(o, OF_A, t->set),
                              cuda_operands_input(o, OF_B, t->set));
}

static sl_status mark(const tuner *t, cudaEvent_t event, sl_error *err)
{
    return cuda_check(t->dev, cudaEventRecord(event, t->stream->handle), "cudaEventRecord", err);
}

/* Ends with Ctrl-C. */
static sl_status elapsed(const tuner *t, double *us, sl_error *err)
{
    float ms = 0;
    sl_status status = cuda_stream_synchronize(&t->stream->base, err);
    if (status == SL_OK)
        status = cuda_check(t->dev, cudaEventElapsedTime(&ms, t->began, t->ended),
                            "cudaEventElapsedTime", err);
    *us = 1000.0 * ms;
    return status;
}

/* *us: of one product; INFINITY: cublasLt refuses it. Half of the products find their operands in
 * the cache, where those before them have left them. */
static sl_status sample(tuner *t, const lt_candidate *c, int launches, double *us, sl_error *err)
{
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
    *us = INFINITY;
    sl_status status = hold_stream(t, launches, err);
    if (status == SL_OK) status = mark(t, t->began, err);
    for (int i = 0; i < launches && status == SL_OK && !code; i++)
        code = multiply(t, c, 2 * i < launches);
    if (status == SL_OK) status = mark(t, t->ended, err);
    if (status == SL_OK) status = elapsed(t, us, err);
    *us = code ? INFINITY : *us / launches;
    if (code) t->failed = code;
    return status;
}

static int launches_in(double all_us, double us, int most)
{
    return us * most <= all_us ? most : us >= all_us ? 1 : (int)(all_us / us);
}

/* A kernel is loaded at its first launch, which does not count. When the time is spent, only the
 * plan in use is measured of those that are left. */
static sl_status sample_all(tuner *t, int launches, sl_error *err)
{
    double us, spent_us = 0;
    sl_status status = SL_OK;
    for (int i = 0; i < t->candidates.n && status == SL_OK; i++) {
        lt_candidate *c = &t->candidates.list[i];
        if (spent_us >= most_us && !c->in_use) continue;
        status = sample(t, c, 1, &us, err);
        if (status == SL_OK && us < INFINITY) status = sample(t, c, launches, &c->us, err);
        if (c->us < INFINITY) spent_us += (1 + launches) * c->us;
    }
    return status;
}

/* ---- the final ---- */

SL__ORDER(faster_first, lt_candidate, x->us, x->order);

/* Orders the candidates by time, and lists those to measure again. */
static int find_finalists(tuner *t, lt_candidate *finalists[MOST_FINALISTS])
{
    lt_candidate *list = t->candidates.list;
    int n = 0, n_whole = 0;
    qsort(list, (size_t)t->candidates.n, sizeof *list, faster_first);
    for (int i = 0; i < t->candidates.n && list[i].us < INFINITY; i++) {
        const bool is_first_whole = !list[i].is_split && n_whole++ == 0;
        if (i < FINALISTS || is_first_whole || list[i].order == 0 || list[i].in_use)
            finalists[n++] = &list[i];
    }
    return n;
}

SL__ORDER(shorter_first, double, *x);

static int count_rounds(lt_candidate *const *finalists, int n, int launches)
{
    double round_us = 0;
    for (int i = 0; i < n; i++)
        round_us += launches * finalists[i]->us;
    return ROUNDS * round_us <= most_us ? ROUNDS : FEW_ROUNDS;
}

static sl_status sample_in_turn(tuner *t, lt_candidate *const *finalists, int n, int launches,
                                sl_error *err)
{
    const int rounds = count_rounds(finalists, n, launches);
    double us[MOST_FINALISTS][ROUNDS];
    sl_status status = SL_OK;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n && status == SL_OK; i++)
            status = sample(t, finalists[i], launches, &us[i][round], err);
    if (status != SL_OK) return status;
    for (int i = 0; i < n; i++) {
        qsort(us[i], (size_t)rounds, sizeof us[i][0], shorter_first);
        finalists[i]->us = us[i][rounds / 2];
    }
    return SL_OK;
}

/* What it costs the GPU, and the host if there is a second kernel. */
static double cost_us(const lt_candidate *c) { return c->us + (c->is_split ? launch_us : 0); }

/* NULL: it cannot be used. */
static lt_candidate *plan_in_use(lt_candidate *const *finalists, int n)
{
    for (int i = 0; i < n; i++)
        if (finalists[i]->in_use && finalists[i]->us < INFINITY) return finalists[i];
    return NULL;
}

/* The plan in use, or the one of those faster by the margin that costs the least. NULL: none can be
 * used. */
static lt_candidate *choose(lt_candidate *const *finalists, int n)
{
    lt_candidate *in_use = plan_in_use(finalists, n), *best = in_use;
    for (int i = 0; i < n; i++) {
        lt_candidate *c = finalists[i];
        if (c->us >= (in_use ? margin * in_use->us : INFINITY)) continue;
        if (!best || cost_us(c) < cost_us(best)) best = c;
    }
    return best;
}

/* ---- the same bytes twice ---- */

/* Whether the first two results are the same. `memory`: 2 x COMPARED_BYTES of the host. */
static sl_status compare(const tuner *t, size_t bytes, char *memory, bool *same, sl_error *err)
{
    sl_status status = SL_OK;
    *same = true;
    for (size_t at = 0; at < bytes && status == SL_OK && *same; at += COMPARED_BYTES) {
        size_t n = bytes - at < COMPARED_BYTES ? bytes - at : COMPARED_BYTES;
        for (int i = 0; i < 2 && status == SL_OK; i++)
            status = cuda_check(
                t->dev,
                cudaMemcpyAsync(memory + (size_t)i * n,
                                (const char *)cuda_operands_result(&t->operands, i) + at, n,
                                cudaMemcpyDeviceToHost, t->stream->handle),
                "cudaMemcpyAsync", err);
        if (status == SL_OK) status = cuda_stream_synchronize(&t->stream->base, err);
        if (status == SL_OK) *same = memcmp(memory, memory + n, n) == 0;
    }
    return status;
}

static sl_status is_reproducible(tuner *t, const lt_candidate *c, bool *same, sl_error *err)
{
    *same = false;
    t->set = t->operands.n - 1;
    if (multiply(t, c, true) || multiply(t, c, true)) return SL_OK;
    char *memory = malloc(2 * COMPARED_BYTES);
    if (!memory) return sl__no_memory(err, "results to compare");
    sl_status status = compare(t, t->operands.bytes[OF_C], memory, same, err);
    free(memory);
    return status;
}

/* *best: NULL if there is none. */
static sl_status choose_reproducible(tuner *t, lt_candidate *const *finalists, int n,
                                     lt_candidate **best, sl_error *err)
{
    while ((*best = choose(finalists, n)) && !(*best)->in_use) {
        bool same;
        sl_status status = is_reproducible(t, *best, &same, err);
        if (status != SL_OK || same) return status;
        (*best)->us = INFINITY;
    }
    return SL_OK;
}

/* ---- measuring ---- */

static int count_usable(const tuner *t)
{
    int n = 0;
    for (int i = 0; i < t->candidates.n; i++)
        n += t->candidates.list[i].us < INFINITY;
    return n;
}

/* 0: it cannot be used. */
static int64_t rounded_ns(double us) { return us < INFINITY ? llround(1000 * us) : 0; }

static int64_t first_ns(const tuner *t)
{
    int i = 0;
    while (t->candidates.list[i].order != 0)
        i++;
    return rounded_ns(t->candidates.list[i].us);
}

/* The device's clock rises from idle while the heuristic's first runs, which also shows how many
 * products a sample needs. */
static sl_status warm_up(tuner *t, int *launches, sl_error *err)
{
    double us;
    sl_status status = sample(t, &t->candidates.list[0], 1, &us, err);
    if (status == SL_OK && us < INFINITY) status = sample(t, &t->candidates.list[0], 1, &us, err);
    if (status != SL_OK) return status;
    *launches = us < INFINITY ? launches_in(sample_us, us, MOST_LAUNCHES) : 1;
    return us < INFINITY
               ? sample(t, &t->candidates.list[0], launches_in(warm_up_us, us, 500), &us, err)
               : SL_OK;
}

static sl_status measure(tuner *t, sl_error *err)
{
    lt_candidate *finalists[MOST_FINALISTS], *best = NULL;
    int launches = 1, n = 0;
    const size_t workspace_bytes = t->stream->workspace ? t->dev->gemm->workspace_bytes : 0;
    sl_status status = cuda_gemm_candidates(t->dev, t->lt, t->plan, workspace_bytes, &t->candidates,
                                            err);
    if (status == SL_OK) status = warm_up(t, &launches, err);
    if (status == SL_OK) status = sample_all(t, launches, err);
    if (status != SL_OK) return status;
    const int usable = count_usable(t);
    n = find_finalists(t, finalists);
    status = sample_in_turn(t, finalists, n, launches, err);
    if (status == SL_OK) status = choose_reproducible(t, finalists, n, &best, err);
    if (status != SL_OK) return status;
    if (!best)
        return cuda_lt_fail(t->dev, &t->dev->gemm->lt, t->failed, "cublasLtMatmul", &t->plan->key,
                            err);
    const cuda_times times = { rounded_ns(best->us), first_ns(t), usable };
    cuda_plan_tune(t->plan, t->lt, &best->algo, best->workspace_bytes, &times);
    return SL_OK;
}

/* ---- what it needs ---- */

static sl_status take_event(const tuner *t, cudaEvent_t *event, sl_error *err)
{
    cuda_use(t->dev);
    return cuda_check(t->dev, cuda_event_take(t->dev, true, event), "cudaEventCreate", err);
}

/* What is still in flight after a failure uses the operands and the results. */
static void tuner_close(tuner *t, bool failed)
{
    if (failed && cudaStreamSynchronize(t->stream->handle) != cudaSuccess) cudaGetLastError();
    cuda_operands_give(&t->operands, t->dev);
    if (t->began) cuda_event_give(t->dev, true, t->began);
    if (t->ended) cuda_event_give(t->dev, true, t->ended);
    free(t->candidates.list);
}

/* Taking memory and waiting may run host functions, which may multiply and so close all plans: the
 * plan is looked for when all else is there. Without memory for a workspace there are fewer
 * candidates. */
static sl_status tuner_open(tuner *t, const plan_key *key, const void *a, const void *b,
                            sl_error *err)
{
    cuda_device *dev = t->dev;
    sl_status status = cuda_lt_find_tuning(&t->lt, err);
    if (status != SL_OK) return status;
    status = cuda_gemm_prepare(dev, t->stream, key, err);
    if (status == SL_OK) status = take_event(t, &t->began, err);
    if (status == SL_OK) status = take_event(t, &t->ended, err);
    if (status == SL_OK) status = cuda_operands_take(&t->operands, dev, key, a, b, err);
    if (status == SL_OK && !t->stream->workspace) cuda_gemm_take_workspace(dev, t->stream, NULL);
    if (status == SL_OK) status = cuda_device_synchronize(&dev->base, err);
    if (status == SL_OK) status = cuda_gemm_prepare(dev, t->stream, key, err);
    if (status == SL_OK) status = cuda_operands_fill(&t->operands, dev, t->stream->handle, err);
    if (status != SL_OK) return status;
    t->plan = dev->gemm->last;
    t->trial = *t->plan;
    return SL_OK;
}

/* ---- the entry ---- */

sl_status cuda_gemm_plan_measure(const sl_product *product, sl_image *image, sl_tuning *tuning,
                                 sl_error *err)
{
    const plan_key key = cuda_plan_key_of(product);
    tuner t = {
        .dev = cuda_of(product->stream->device),
        .stream = (cuda_stream *)product->stream,
    };
    cuda_own_begin();
    sl_status status = tuner_open(&t, &key, cuda_data(&product->side[0]),
                                  cuda_data(&product->side[1]), err);
    if (status == SL_OK) status = measure(&t, err);
    if (status == SL_OK) status = cuda_plan_keep(t.plan, image, err);
    if (status == SL_OK) *tuning = t.plan->tuning;
    tuner_close(&t, status != SL_OK);
    cuda_own_end();
    return status;
}
