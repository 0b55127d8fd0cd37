/* cupti_rig.h - what the tests of core/cuda/cuda_activity.c with CUPTI share, over fake_cupti.c and without a
 * GPU. matching.c, trace_buffers.c, cupti_attach.c and cupti_trace.c are included, so that their
 * allocations can fail and be counted. The folder of the program holds fake_cupti.so. Included once a program, which has
 * defined _GNU_SOURCE for mkdtemp.
 */
#ifndef CUPTI_RIG_H
#define CUPTI_RIG_H

#include <cupti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "../../core/base.h"

static atomic_int live_blocks, most_live_blocks;         /* nearly all are trace_buffers.c's */
static int mallocs_until_failure, growths_until_failure; /* the so-many-th fails; 0: none */

static bool fails(int *calls_until_failure)
{
    return *calls_until_failure > 0 && --*calls_until_failure == 0;
}

static void *counted(void *block)
{
    int live = ++live_blocks, most = most_live_blocks;
    while (live > most && !atomic_compare_exchange_weak(&most_live_blocks, &most, live))
        continue;
    return block;
}

static void *counted_malloc(size_t bytes)
{
    return fails(&mallocs_until_failure) ? NULL : counted(malloc(bytes));
}

static void counted_free(void *block)
{
    live_blocks -= block != NULL;
    free(block);
}

static bool failing_grow(void *array, size_t *cap, size_t n, size_t element_bytes, bool zeroed)
{
    const bool is_new = *cap == 0;
    if (fails(&growths_until_failure) || !sl__grow(array, cap, n, element_bytes, zeroed))
        return false;
    if (is_new) counted(array);
    return true;
}

#define malloc counted_malloc
#define free counted_free
#define sl__grow failing_grow
#include "../../core/cuda/matching.c"
#include "../../core/cuda/trace_buffers.c"
#include "../../core/cuda/cupti_attach.c"
#include "../../core/cuda/cupti_trace.c"
#undef malloc
#undef free
#undef sl__grow

#include "activity_rig.h"
#include "fake_cupti.h"

#include <dlfcn.h>
#include <unistd.h>

/* ---- what the tests say ---- */

static fake_cupti_state *fake;

enum { MOST_FOUND = 64 };

static struct {
    sl_activity first[MOST_FOUND];
    char symbols[MOST_FOUND][64];
    size_t n;
} found;

static void on_found(void *ud, const sl_activity *activity)
{
    (void)ud;
    if (found.n < MOST_FOUND) {
        found.first[found.n] = *activity;
        snprintf(found.symbols[found.n], sizeof *found.symbols, "%s",
                 activity->symbol ? activity->symbol : "none");
    }
    found.n++;
}

/* How many activities there were. */
static size_t collect(rig *r)
{
    found.n = 0;
    cuda_record_collect(&r->dev.base, on_found, NULL);
    return found.n;
}

/* CUPTI's clock, and the host's, show these times from now on. */
static void set_clocks(int64_t cupti_ns, int64_t host_ns)
{
    fake->now_ns = cupti_ns;
    rest.host_ns = host_ns;
}

static rig *open_recording(const char *name)
{
    rig *r = open_rig();
    set_clocks(1000000, 0);
    r->err = (sl_error){ .status = SL_OK };
    cuda_record_begin(&r->dev.base, name, &r->err);
    return r;
}

static void end_recording(rig *r, const char *after)
{
    cuda_record_end(&r->dev.base);
    close_rig(r, after);
}

static fake_cupti_work kernel(uint64_t start, uint64_t end)
{
    return (fake_cupti_work){ .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                              .name = "spin",
                              .start = start,
                              .end = end,
                              .grid = { 2, 3, 4 },
                              .block = { 32, 4, 2 } };
}

/* Both clocks go on. */
static void pass(int64_t ns)
{
    fake->now_ns += ns;
    rest.host_ns += ns;
}

/* Enqueues an operation for which the device does `work`, in one call of CUDA's in the middle of 10 ns. */
static cuda_op *enqueue(rig *r, sl_work_kind kind, const fake_cupti_work *work, int n,
                        uint32_t *correlation)
{
    cuda_op *op = new_op(r, kind);
    pass(1);
    cuda_activity_before(op, NULL);
    pass(5);
    uint32_t call = fake->call(work, n);
    pass(5);
    cuda_activity_after(op, true);
    r->dev.n_in_flight++;
    if (correlation) *correlation = call;
    return op;
}

/* The whole life of an operation of one kernel. */
static void run_kernel(rig *r, uint64_t start, uint64_t end)
{
    fake_cupti_work work = kernel(start, end);
    complete(r, enqueue(r, SL_WORK_KERNEL, &work, 1, NULL));
}

/* ---- the fake ---- */

static char folder[1024], soname[1100];

static void remove_folder(void)
{
    unlink(soname);
    rmdir(folder);
}

/* A folder beside this program in which the fake has CUPTI's name, for library.c. */
static bool offer_fake(const char *program)
{
    const char *slash = strrchr(program, '/');
    int length = slash ? (int)(slash - program) : 1;
    snprintf(folder, sizeof folder, "%.*s/cupti-XXXXXX", length, slash ? program : ".");
    if (!mkdtemp(folder)) return false;
    snprintf(soname, sizeof soname, "%s/libcupti.so.%d", folder, CUDART_VERSION / 1000);
    atexit(remove_folder);
    if (symlink("../fake_cupti.so", soname) != 0 || setenv("STREAMLAB_CUDA_LIB", folder, 1) != 0)
        return false;
    void *library = cuda_library_open(CUDA_CUPTI, NULL);
    fake = library ? dlsym(library, "fake_cupti") : NULL;
    return fake != NULL;
}

#endif
