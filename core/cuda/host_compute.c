/* host_compute.c - what the host itself does to host memory: numbers, copies.
 *
 * Large work is shared among threads that are started for it and joined: a script fills
 * its tensors before its experiment, and starting a thread takes some 20 us. What is
 * computed depends on the place of an element alone, so not on how many threads there are.
 */
#include "cuda.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../numbers/elements.h"

enum { MOST_THREADS = 8 };

/* A thread gets at least so much: what takes it several times as long as its start. */
static const size_t random_share = (size_t)256 << 10, moving_share = (size_t)2 << 20;

typedef struct host_job {
    const sl_work *work;
    char *out;
    const char *in;
    size_t element_bytes;
} host_job;

typedef struct share {
    const host_job *job;
    size_t first, n; /* elements; bytes of a copy */
    pthread_t thread;
    bool started;
} share;

static void do_share(const share *part)
{
    const host_job *job = part->job;
    if (job->work->kind == SL_WORK_MEMCPY)
        memmove(job->out + part->first, job->in + part->first, part->n);
    else
        numbers_generate(job->work, part->first, part->n,
                         job->out + part->first * job->element_bytes);
}

static void *thread_main(void *ud)
{
    do_share(ud);
    return NULL;
}

static size_t processors(void)
{
    static size_t n;
    if (n == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        n = online < 1 ? 1 : online > MOST_THREADS ? MOST_THREADS : (size_t)online;
    }
    return n;
}

/* Cuts the work at multiples of 4096 elements and starts a thread for each piece but the
 * first. Ctrl-C is for the program's own thread. A thread that cannot be started leaves
 * its piece to the caller. */
static void run(const host_job *job, size_t n, size_t n_threads)
{
    share shares[MOST_THREADS];
    size_t each = (n + n_threads - 1) / n_threads, n_shares = 0;
    sigset_t all, before;
    each = (each + 4095) / 4096 * 4096;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t first = 0; first < n; first += each, n_shares++) {
        share *part = &shares[n_shares];
        *part = (share){ .job = job, .first = first, .n = n - first < each ? n - first : each };
        part->started = first > 0 && !pthread_create(&part->thread, NULL, thread_main, part);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < n_shares; i++)
        if (!shares[i].started) do_share(&shares[i]);
    for (size_t i = 0; i < n_shares; i++)
        if (shares[i].started) pthread_join(shares[i].thread, NULL);
}

static void share_out(const host_job *job, size_t n, size_t bytes, size_t bytes_each)
{
    size_t n_threads = bytes / bytes_each;
    if (n_threads > processors()) n_threads = processors();
    if (n_threads < 2)
        do_share(&(share){ .job = job, .n = n });
    else
        run(job, n, n_threads);
}

static char *data_of(const sl_buffer *buffer) { return ((const cuda_buffer *)buffer)->data; }

sl_status cuda_host_compute(const sl_operand *out, const sl_operand *in, const sl_work *work,
                            sl_error *err)
{
    host_job job = { .work = work, .out = cuda_data(out) };
    (void)err;
    if (work->kind == SL_WORK_MEMCPY) {
        if (work->bytes == 0) return SL_OK;
        job.in = cuda_data(in);
        /* Within one tensor the two may overlap: no threads. */
        share_out(&job, work->bytes, out->buffer == in->buffer ? 0 : work->bytes, moving_share);
        return SL_OK;
    }
    size_t n = (size_t)work->n;
    job.element_bytes = numbers_dtype_bytes((sl_dtype)work->dtype);
    if (n > 0)
        share_out(&job, n, n * job.element_bytes,
                  work->kernel == SL_KERNEL_FILL ? moving_share : random_share);
    return SL_OK;
}

sl_status cuda_host_read(sl_buffer *buffer, size_t offset, size_t bytes, void *data, sl_error *err)
{
    (void)err;
    if (bytes > 0) memcpy(data, data_of(buffer) + offset, bytes);
    return SL_OK;
}

sl_status cuda_host_write(sl_buffer *buffer, size_t offset, size_t bytes, const void *data,
                          sl_error *err)
{
    (void)err;
    if (bytes > 0) memcpy(data_of(buffer) + offset, data, bytes);
    return SL_OK;
}
