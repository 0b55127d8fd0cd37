/* compute.c - the simulated GPU's kernels as loops on the CPU.
 *
 * Elements are loaded into blocks on the C stack (from any dtype), computed, rounded and stored.
 * The order of operations is fixed, so that the same inputs give the same bits on every machine,
 * except for the C library's powf and expf and the BLAS library's order of summation.
 */
#include "compute.h"

#include <math.h>
#include <string.h>

#include "../numbers/elements.h"
#include "interrupt_flag.h"

enum {
    BLOCK = SIM_BLOCK,  /* elements at a time */
    PIECE = 128 * BLOCK /* elements after which the interrupt flag is read */
};

/* ---- jobs ---- */

static sl_kernel_family family_of(const sim_job *job)
{
    return sl_kernel_family_of((sl_kernel)job->kernel);
}

void sim_job_init(sim_job *job, const sl_work *work)
{
    const sl_kernel_family family = sl_kernel_family_of((sl_kernel)work->kernel);
    memset(job, 0, sizeof *job);
    job->kernel = work->kernel;
    job->dtype = work->dtype;
    job->in_dtype = family == SL_FAMILY_CAST ? work->in_dtype : work->dtype;
    job->n = work->n;
    job->times = 1;
    const bool has_k = family == SL_FAMILY_MATMUL || family == SL_FAMILY_TRANSPOSE;
    job->m = has_k || family == SL_FAMILY_ROWS ? work->m : 1;
    job->k = has_k ? work->k : 1;
    if (family == SL_FAMILY_NUMBER || family == SL_FAMILY_FILL) job->scalar = work->scalar;
    if (family == SL_FAMILY_RANDOM) {
        job->seed = work->seed;
        job->sequence = work->sequence;
    }
    if (has_k) job->outer = work->outer;
    if (family == SL_FAMILY_TRANSPOSE) job->middle = work->middle;
    if (family != SL_FAMILY_MATMUL) return;
    job->flags = work->flags
                 & (work->dtype == SL_FLOAT32 ? SL_WORK_TF32 | SL_WORK_BIAS : SL_WORK_BIAS);
    job->activation = work->activation;
}

int sim_job_inputs(const sim_job *job)
{
    return sl_kernel_inputs((sl_kernel)job->kernel) + (job->flags & SL_WORK_BIAS ? 1 : 0);
}

size_t sim_job_bytes(const sim_job *job, int side)
{
    int64_t elems = job->m * job->n;
    if (job->kernel == SL_KERNEL_TRANSPOSE) elems *= job->outer * job->middle * job->k;
    if (job->kernel == SL_KERNEL_SUM && side == SL_OUTPUT) elems = 1;
    if (job->kernel == SL_KERNEL_MATMUL)
        elems = side == 0   ? job->outer * job->m * job->k
                : side == 1 ? job->outer * job->k * job->n
                : side == 2 ? job->n
                            : job->outer * job->m * job->n;
    return (size_t)elems * numbers_dtype_bytes(side == SL_OUTPUT ? job->dtype : job->in_dtype);
}

bool sim_job_is_elementwise(const sim_job *job)
{
    const sl_kernel_family family = family_of(job);
    return family == SL_FAMILY_PAIR || family == SL_FAMILY_NUMBER || family == SL_FAMILY_ONE;
}

bool sim_job_is_generator(const sim_job *job) { return sim_job_inputs(job) == 0; }

double sim_job_flops(const sim_job *job)
{
    double flops = (double)job->m * (double)job->n * (double)job->k;
    if (job->kernel == SL_KERNEL_TRANSPOSE) flops *= (double)job->outer * (double)job->middle;
    if (job->kernel == SL_KERNEL_MATMUL) flops *= (double)job->outer;
    return flops * sl_kernel_row_of((sl_kernel)job->kernel)->flops * (double)job->times;
}

/* ---- kernels ---- */

/* Whether the user interrupts the work on blocks before element `first`. */
static bool stops_at(int64_t first)
{
    return first > 0 && first % PIECE == 0 && sim_is_interrupted();
}

static size_t block_size_of(int64_t n, int64_t first, int64_t most)
{
    return (size_t)(n - first < most ? n - first : most);
}

static size_t block_size(int64_t n, int64_t first) { return block_size_of(n, first, BLOCK); }

/* Applies the job again to elements [first, first + n) of its output. What two rounds do not change
 * stays as it is: fixed points (x^2), and changes of sign (-x). False: stopped. */
static bool run_again(const sim_job *job, int64_t first, size_t n, void *out, const void *in1,
                      bool stops)
{
    const size_t element_bytes = numbers_dtype_bytes(job->dtype), bytes = n * element_bytes;
    uint8_t before[BLOCK * sizeof(double)], *block = (uint8_t *)out + (size_t)first * element_bytes;
    size_t since = 0; /* elements since the interrupt flag was read */
    for (int64_t left = job->times - 1; left > 0;) {
        if (stops && since >= PIECE && sim_is_interrupted()) return false;
        since = since >= PIECE ? 0 : since + 2 * n;
        memcpy(before, block, bytes);
        sim_elementwise(job, first, n, out, out, in1);
        if (left > 1) sim_elementwise(job, first, n, out, out, in1);
        left -= left > 1 ? 2 : 1;
        if (memcmp(before, block, bytes) == 0) left %= 2;
    }
    return true;
}

/* Over an input it cannot be stopped: half of that would be lost. */
static sl_status run_elementwise(const sim_job *job, void *out, const void *in0, const void *in1)
{
    const bool stops = out != in0 && out != in1;
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        const size_t n = block_size(job->n, first);
        if (stops && stops_at(first)) return SL_EINTERRUPT;
        sim_elementwise(job, first, n, out, in0, in1);
        if (job->times > 1 && !run_again(job, first, n, out, in1, stops)) return SL_EINTERRUPT;
    }
    return SL_OK;
}

/* Not in place: the sizes differ. */
static sl_status run_cast(const sim_job *job, void *out, const void *in)
{
    double x[BLOCK];
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        if (stops_at(first)) return SL_EINTERRUPT;
        numbers_widen(x, in, job->in_dtype, first, n);
        numbers_narrow(out, x, job->dtype, first, n);
    }
    return SL_OK;
}

/* NaN if there is one. When the user interrupts it, the result is not used. */
static float row_maximum(const sim_job *job, const void *in, int64_t start)
{
    float x[BLOCK], largest = -INFINITY;
    for (int64_t first = 0; first < job->n && !stops_at(first); first += BLOCK) {
        size_t n = block_size(job->n, first);
        numbers_load(x, in, job->dtype, start + first, n);
        for (size_t i = 0; i < n; i++)
            if (x[i] > largest || isnan(x[i])) largest = x[i];
        if (isnan(largest)) return largest;
    }
    return largest;
}

/* exp(x - max) / sum: the largest term is 1, so nothing overflows. */
static sl_status run_softmax_row(const sim_job *job, int64_t start, void *out, const void *in)
{
    float x[BLOCK];
    const float largest = row_maximum(job, in, start);
    double sum = 0;
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        if (stops_at(first)) return SL_EINTERRUPT;
        numbers_load(x, in, job->dtype, start + first, n);
        for (size_t i = 0; i < n; i++)
            sum += expf(x[i] - largest);
    }
    const float total = (float)sum;
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        if (stops_at(first)) return SL_EINTERRUPT;
        numbers_load(x, in, job->dtype, start + first, n);
        for (size_t i = 0; i < n; i++)
            x[i] = expf(x[i] - largest) / total;
        numbers_store(out, x, job->dtype, start + first, n);
    }
    return SL_OK;
}

static sl_status run_softmax(const sim_job *job, void *out, const void *in)
{
    int64_t since = 0; /* elements since the interrupt flag was read */
    for (int64_t row = 0; row < job->m; row++) {
        if (since >= PIECE && sim_is_interrupted()) return SL_EINTERRUPT;
        since = since >= PIECE ? 0 : since + job->n;
        sl_status status = run_softmax_row(job, row * job->n, out, in);
        if (status != SL_OK) return status;
    }
    return SL_OK;
}

/* Element i goes to lane i % 8: exact for whole numbers, and faster than one chain of additions. */
enum { LANES = 8 };

static void add_block(const sim_job *job, const void *in, int64_t first, size_t n,
                      double lane[LANES])
{
    double wide[BLOCK];
    float x[BLOCK];
    if (job->dtype == SL_FLOAT64) {
        memcpy(wide, (const uint8_t *)in + (size_t)first * sizeof *wide, n * sizeof *wide);
        for (size_t i = 0; i < n; i++)
            lane[i % LANES] += wide[i];
        return;
    }
    numbers_load(x, in, job->dtype, first, n);
    for (size_t i = 0; i < n; i++)
        lane[i % LANES] += x[i];
}

/* In double, the lanes added up in order. */
static sl_status run_sum(const sim_job *job, void *out, const void *in)
{
    double lane[LANES] = { 0 };
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        if (stops_at(first)) return SL_EINTERRUPT;
        add_block(job, in, first, block_size(job->n, first), lane);
    }
    for (int i = 1; i < LANES; i++)
        lane[0] += lane[i];
    numbers_store_number(out, lane[0], job->dtype);
    return SL_OK;
}

/* Modulo 2^32, in any order. */
static sl_status run_whole_sum(const sim_job *job, void *out, const void *in)
{
    uint32_t x[BLOCK], sum = 0;
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        if (stops_at(first)) return SL_EINTERRUPT;
        memcpy(x, (const uint8_t *)in + (size_t)first * sizeof *x, n * sizeof *x);
        for (size_t i = 0; i < n; i++)
            sum += x[i];
    }
    memcpy(out, &sum, sizeof sum);
    return SL_OK;
}

/* A tile of the m x n cells of `cell` bytes of one matrix; rows of both lie so many bytes apart. */
static void transpose_tile(uint8_t *out, const uint8_t *in, int64_t rows, int64_t columns,
                           size_t cell, size_t in_row, size_t out_row)
{
#define CELLS(bytes)                                        \
    for (int64_t i = 0; i < rows; i++)                      \
        for (int64_t j = 0; j < columns; j++)               \
    memcpy(out + (size_t)j * out_row + (size_t)i * (bytes), \
           in + (size_t)i * in_row + (size_t)j * (bytes), (bytes))
    switch (cell) { /* a copy of a length that the compiler knows is one instruction */
    case 1: CELLS(1); break;
    case 2: CELLS(2); break;
    case 4: CELLS(4); break;
    case 8: CELLS(8); break;
    default: CELLS(cell);
    }
#undef CELLS
}

enum { TILE = 64 };

/* One matrix of m x n cells; false: stopped. */
static bool transpose_matrix(const sim_job *job, uint8_t *out, const uint8_t *in, size_t cell,
                             int64_t *since)
{
    const size_t in_row = (size_t)(job->middle * job->n) * cell;
    const size_t out_row = (size_t)(job->middle * job->m) * cell;
    for (int64_t i = 0; i < job->m; i += TILE)
        for (int64_t j = 0; j < job->n; j += TILE) {
            const int64_t rows = job->m - i < TILE ? job->m - i : TILE;
            const int64_t columns = job->n - j < TILE ? job->n - j : TILE;
            if (*since >= PIECE && sim_is_interrupted()) return false;
            *since = *since >= PIECE ? 0 : *since + rows * columns * job->k;
            transpose_tile(out + (size_t)j * out_row + (size_t)i * cell,
                           in + (size_t)i * in_row + (size_t)j * cell, rows, columns, cell, in_row,
                           out_row);
        }
    return true;
}

/* outer x middle matrices, whose elements are cells of k. */
static sl_status run_transpose(const sim_job *job, void *out, const void *in)
{
    const size_t cell = (size_t)job->k * numbers_dtype_bytes(job->dtype);
    int64_t since = 0; /* elements since the interrupt flag was read */
    for (int64_t o = 0; o < job->outer; o++)
        for (int64_t b = 0; b < job->middle; b++) {
            const size_t from = (size_t)((o * job->m * job->middle + b) * job->n) * cell;
            const size_t to = (size_t)((o * job->n * job->middle + b) * job->m) * cell;
            if (!transpose_matrix(job, (uint8_t *)out + to, (const uint8_t *)in + from, cell,
                                  &since))
                return SL_EINTERRUPT;
        }
    return SL_OK;
}

void sim_job_generate(const sim_job *job, uint64_t first, size_t n, void *out)
{
    const sl_work work = {
        .kernel = job->kernel,
        .dtype = job->dtype,
        .scalar = job->scalar,
        .seed = job->seed,
        .sequence = job->sequence,
    };
    numbers_generate(&work, first, n, out);
}

static sl_status run_generator(const sim_job *job, void *out)
{
    const size_t bytes = numbers_dtype_bytes(job->dtype);
    for (int64_t first = 0; first < job->n; first += PIECE) {
        if (stops_at(first)) return SL_EINTERRUPT;
        sim_job_generate(job, (uint64_t)first, block_size_of(job->n, first, PIECE),
                         (uint8_t *)out + (size_t)first * bytes);
    }
    return SL_OK;
}

sl_status sim_job_run(const sim_job *job, void *out, const void *const in[SL_INPUTS])
{
    switch (job->kernel) {
    case SL_KERNEL_MATMUL: return sim_multiply(job, out, in);
    case SL_KERNEL_SOFTMAX: return run_softmax(job, out, in[0]);
    case SL_KERNEL_SUM:
        return job->dtype == SL_INT32 ? run_whole_sum(job, out, in[0]) : run_sum(job, out, in[0]);
    case SL_KERNEL_CAST: return run_cast(job, out, in[0]);
    case SL_KERNEL_TRANSPOSE: return run_transpose(job, out, in[0]);
    case SL_KERNEL_FILL:
    case SL_KERNEL_RAND:
    case SL_KERNEL_RANDN: return run_generator(job, out);
    default: return run_elementwise(job, out, in[0], in[1]);
    }
}
