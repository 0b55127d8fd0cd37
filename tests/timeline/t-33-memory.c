/* t-33-memory.c - what calls allocate and free: added, summed up, and kept by a trace. */
#define _XOPEN_SOURCE 700

#include "files.h"
#include "make.h"

#include "../../core/traces/traces.h"

/* A plain call of 2 ns, 10 ns behind the last one, about so much memory. */
static void memory_call(sl_timeline *tl, sl_memory_note note, bool waits)
{
    sl_error err;
    sl_call c = {
        .kind = SL_CALL_PLAIN,
        .name = text_id(tl, note.frees ? "cudaFree" : "cudaMalloc"),
        .correlation = ++issued,
        .waited_for_device = waits,
    };
    c.host_start_ns = (int64_t)issued * 10;
    c.host_end_ns = c.host_start_ns + 2;
    must(sl_timeline_add_call(tl, &c, &err), &err);
    note.correlation = issued;
    must(sl_timeline_add_memory(tl, &note, &err), &err);
}

/* On the device 100, 50, and 100 freed, 30: at most 150, when the second call returns, at 32 ns;
 * what was there before is freed, too. */
static sl_timeline *make_memory(void)
{
    sl_timeline *tl = make();
    kernel(tl, 0, 20, 400);
    memory_call(tl, (sl_memory_note){ .bytes = 100 }, false);
    memory_call(tl, (sl_memory_note){ .bytes = 50 }, false);
    memory_call(tl, (sl_memory_note){ .bytes = 1000, .frees = true, .is_from_before = true },
                false);
    memory_call(tl, (sl_memory_note){ .bytes = 100, .frees = true }, true);
    memory_call(tl, (sl_memory_note){ .bytes = 30 }, false);
    memory_call(tl, (sl_memory_note){ .kind = SL_MEMORY_POOL, .bytes = 7, .reserved_bytes = 2048 },
                false);
    finish(tl);
    return tl;
}

static void check_use(const sl_timeline *tl, const char *what)
{
    sl_memory_use use[SL_MEMORY_KINDS];
    sl_error err;
    must(sl_timeline_memory_use(tl, use, &err), &err);
    const sl_memory_use *device = &use[SL_MEMORY_DEVICE], *pool = &use[SL_MEMORY_POOL];
    is_int((int64_t)device->n_allocations, 3, "%s: allocations", what);
    is_int((int64_t)device->n_frees, 2, "%s: frees", what);
    is_int((int64_t)device->bytes, 180, "%s: bytes of all", what);
    is_int((int64_t)device->peak_bytes, 150, "%s: the most at once", what);
    is_int(device->peak_ns - sl_timeline_host_start_ns(tl), 32, "%s: when that was", what);
    is_int((int64_t)device->left_bytes, 80,
           "%s: what is left, without what was there before the recording", what);
    is_int(device->calls_ns, 10, "%s: time in the calls", what);
    is_int(device->waited_ns, 2, "%s: time in those that waited", what);
    is_int((int64_t)pool->peak_bytes, 7, "%s: of a pool", what);
    is_int((int64_t)pool->reserved_bytes, 2048, "%s: and what the pool held", what);
    is_int((int64_t)use[SL_MEMORY_PINNED].n_allocations, 0, "%s: nothing of other kinds", what);
}

static void test_use(void)
{
    sl_timeline *tl = make_memory(), *read = NULL;
    sl_error err = { 0 };
    check_use(tl, "made");
    must(sl_timeline_save_kineto(tl, in_directory("m.json"), &err), &err);
    must(sl_timeline_load(in_directory("m.json"), SL_BUSIEST_DEVICE, &read, &err), &err);
    check_use(read, "saved and loaded");
    ok(!sl_timeline_find_memory(read, 1), "what allocates nothing has no note");
    sl_timeline_release(read);
    sl_timeline_release(tl);
    unlink(in_directory("m.json"));
}

static void test_sums_end(void)
{
    const uint64_t most = UINT64_C(1) << 62;
    sl_memory_use use[SL_MEMORY_KINDS];
    sl_timeline *tl = make();
    sl_error err;
    for (int i = 0; i < 5; i++)
        memory_call(tl, (sl_memory_note){ .kind = SL_MEMORY_MANAGED, .bytes = most }, false);
    sl_memory_note note = { .correlation = 1, .bytes = most + 1 };
    is_int(sl_timeline_add_memory(tl, &note, &err), SL_EINVAL, "memory larger than any is refused");
    note = (sl_memory_note){ .correlation = 1, .kind = SL_MEMORY_KINDS };
    is_int(sl_timeline_add_memory(tl, &note, &err), SL_EINVAL, "so is a kind that there is not");
    finish(tl);
    must(sl_timeline_memory_use(tl, use, &err), &err);
    ok(use[SL_MEMORY_MANAGED].bytes == UINT64_MAX, "sums that do not fit end at the largest");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    make_directory();
    test_use();
    test_sums_end();
    ok(rmdir(directory) == 0, "no file is left");
    return done_testing();
}
