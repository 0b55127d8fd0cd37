/* What the host's caches are worth: copies of pageable memory that are in them, and calls that
 * come behind other work of the host. */
#include "lab.h"

static int64_t call_ns(const lab *l, size_t span)
{
    return lab_span(l, span)->host_end_ns - lab_span(l, span)->host_start_ns;
}

/* 10 bytes a ns from the caches, 5 from memory. A buffer of 20000 bytes is copied in 4000 ns, less
 * 2000 times the part that the caches of 80000 bytes still have of it: what was used since, and
 * the buffer's own bytes, have left the others no room. The engine moves 20000 bytes in 2000 ns. */
static const double cold[] = { 1, 5 };
#define COLD_TABLES                                          \
    LAB_TABLES(LAB_TABLE("h2d_staging_cold_gb_per_s", cold), \
               LAB_TABLE("d2h_staging_cold_gb_per_s", cold))
#define CACHES \
    { "host_cache_bytes", 80000 }, { "h2d_async_bytes", 1e6 }

static void uploads(void)
{
    const lab_setup setup = { COLD_TABLES, LAB_MORE(CACHES) };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *small = lab_bytes(&l, SL_PAGEABLE, 20000), *gpu = lab_bytes(&l, SL_ON_DEVICE, 60000);
    sl_tensor *other = lab_bytes(&l, SL_PAGEABLE, 20000);
    sl_tensor *large = lab_bytes(&l, SL_PAGEABLE, 60000), *pinned = lab_bytes(&l, SL_PINNED, 20000);
    lab_copy(&l, 1, gpu, small, 20000);  /* 0 */
    lab_copy(&l, 1, gpu, small, 20000);  /* 1 */
    lab_copy(&l, 1, gpu, pinned, 20000); /* 2 */
    lab_copy(&l, 1, gpu, small, 20000);  /* 3 */
    lab_copy(&l, 1, gpu, other, 20000);  /* 4 */
    lab_copy(&l, 1, gpu, small, 20000);  /* 5 */
    lab_copy(&l, 1, gpu, large, 60000);  /* 6 */
    lab_copy(&l, 1, gpu, small, 20000);  /* 7 */
    lab_copy(&l, 1, gpu, large, 60000);  /* 8 */
    lab_end(&l);
    is_int(call_ns(&l, 0), 4000, "memory that nobody has used is copied at the cold speed");
    is_int(call_ns(&l, 1), 2500, "the same again: three quarters are in the caches");
    is_int(call_ns(&l, 3), 3000, "a copy of page-locked memory takes a quarter of them");
    is_int(call_ns(&l, 4), 4000, "other memory is cold");
    is_int(call_ns(&l, 5), 3000, "and takes as much: half of the first buffer is left");
    is_int(call_ns(&l, 6), 12000, "60000 bytes more");
    is_int(call_ns(&l, 7), 4000, "leave nothing of it");
    is_int(call_ns(&l, 8), 12000, "nor do 20000 of the large one, which all but fills the caches");
    lab_close(&l);
}

static void downloads(void)
{
    const lab_setup setup = { COLD_TABLES, LAB_MORE(CACHES) };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *host = lab_bytes(&l, SL_PAGEABLE, 20000), *gpu = lab_bytes(&l, SL_ON_DEVICE, 20000);
    lab_copy(&l, 1, host, gpu, 20000);
    lab_copy(&l, 1, host, gpu, 20000);
    l.failed += sl_tensor_fill(lab_bytes(&l, SL_PAGEABLE, 40000), 1, l.stream[0], NULL) != SL_OK;
    lab_copy(&l, 1, host, gpu, 20000);
    lab_copy(&l, 1, gpu, host, 20000);
    lab_copy(&l, 1, gpu, host, 20000);
    lab_end(&l);
    is_int(call_ns(&l, 0), 2000 + 4000, "a copy to memory that nobody has used");
    is_int(call_ns(&l, 1), 2000 + 2500, "to memory of which three quarters are in the caches");
    is_int(call_ns(&l, 2), 2000 + 3500, "what the host fills takes its place there as well");
    is_int(call_ns(&l, 3), 4000, "what was copied to the host is cold on the way back");
    is_int(call_ns(&l, 4), 2500, "but not the second time");
    lab_close(&l);
}

/* What the host wrote is on its way to memory: it takes room in the caches, and is not found. */
static void just_written(void)
{
    const lab_setup setup = { COLD_TABLES, LAB_MORE(CACHES) };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *a = lab_bytes(&l, SL_PAGEABLE, 20000), *b = lab_bytes(&l, SL_PAGEABLE, 20000);
    sl_tensor *gpu = lab_bytes(&l, SL_ON_DEVICE, 20000);
    lab_copy(&l, 1, gpu, a, 20000); /* 0 */
    l.failed += sl_tensor_fill(a, 1, l.stream[0], NULL) != SL_OK;
    lab_copy(&l, 1, gpu, a, 20000); /* 1 */
    lab_copy(&l, 1, gpu, a, 20000); /* 2 */
    l.failed += sl_tensor_copy(b, a, false, l.stream[1], NULL) != SL_OK;
    lab_copy(&l, 1, gpu, a, 20000); /* 3 */
    lab_copy(&l, 1, gpu, b, 20000); /* 4 */
    lab_end(&l);
    is_int(call_ns(&l, 1), 4000, "a buffer that the host has filled is cold");
    is_int(call_ns(&l, 2), 2500, "until it is used again");
    is_int(call_ns(&l, 3), 2500, "what the host has read last is warm");
    is_int(call_ns(&l, 4), 4000, "and what it has copied that to is not");
    lab_close(&l);
}

/* 10 bytes a ns, 5 of what the host has just written. Of 20000 bytes half of 40000 are still there. */
static void page_locked(void)
{
    const lab_setup setup = {
        LAB_MORE({ "h2d_written_gb_per_s", 5 }, { "host_written_bytes", 40000 }),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *a = lab_bytes(&l, SL_PINNED, 20000), *gpu = lab_bytes(&l, SL_ON_DEVICE, 20000);
    lab_copy(&l, 1, gpu, a, 20000);
    l.failed += sl_stream_synchronize(l.stream[1], NULL) != SL_OK;
    l.failed += sl_tensor_fill(a, 1, l.stream[0], NULL) != SL_OK;
    lab_copy(&l, 1, gpu, a, 20000);
    lab_copy(&l, 1, gpu, a, 20000);
    l.failed += sl_stream_synchronize(l.stream[1], NULL) != SL_OK;
    l.failed += sl_tensor_fill(a, 1, l.stream[0], NULL) != SL_OK;
    l.failed += sl_tensor_fill(lab_bytes(&l, SL_PINNED, 20000), 1, l.stream[0], NULL) != SL_OK;
    lab_copy(&l, 1, gpu, a, 20000);
    lab_end(&l);
    is_int(lab_span(&l, 0)->end_ns - lab_span(&l, 0)->start_ns, 2000, "page-locked memory");
    is_int(lab_span(&l, 1)->end_ns - lab_span(&l, 1)->start_ns, 3000,
           "that the host has just written, half of it from its caches");
    is_int(lab_span(&l, 2)->end_ns - lab_span(&l, 2)->start_ns, 2000, "which have it no more");
    is_int(lab_span(&l, 3)->end_ns - lab_span(&l, 3)->start_ns, 2000,
           "nor when other memory has taken its place");
    lab_close(&l);
}

static void without_tables(void)
{
    const lab_setup setup = { LAB_MORE({ "host_cache_bytes", 65536 }) };
    lab l;
    lab_open(&l, &setup);
    lab_copy(&l, 1, lab_bytes(&l, SL_ON_DEVICE, 20000), lab_bytes(&l, SL_PAGEABLE, 20000), 20000);
    lab_end(&l);
    is_int(call_ns(&l, 0), 2000, "a profile without cold tables has one speed");
    lab_close(&l);
}

/* Each kind of call has a cost of its own, and more the more bytes the host has worked on since the
 * last one of its kind: all of it behind 2 x 50000. */
static void cold_calls(void)
{
    const lab_setup setup = {
        LAB_MORE({ "host.launch_us", 0.1 }, { "host.matmul_us", 0.2 },
                 { "host.memcpy_async_us", 0.3 }, { "host.memset_us", 0.4 },
                 { "host_cold.bytes", 50000 }, { "host_cold.launch_us", 1 },
                 { "host_cold.matmul_us", 2 }, { "host_cold.memcpy_async_us", 3 },
                 { "host_cold.first", 0.5 }),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *a = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    sl_tensor *b = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    sl_tensor *row = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 1, 64);
    sl_tensor *other = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 1, 64);
    sl_tensor *gpu = lab_bytes(&l, SL_ON_DEVICE, 30000), *host = lab_bytes(&l, SL_PAGEABLE, 30000);
    sl_tensor *pinned = lab_bytes(&l, SL_PINNED, 30000);
    lab_spin(&l, 1, 10);                                                         /* 0 */
    lab_spin(&l, 1, 10);                                                         /* 1 */
    l.failed += launch_matmul(b, a, a, false, l.stream[1], NULL) != SL_OK;       /* 2 */
    l.failed += launch_matmul(b, a, a, false, l.stream[1], NULL) != SL_OK;       /* 3 */
    l.failed += launch_matmul(row, other, a, false, l.stream[1], NULL) != SL_OK; /* 4 */
    lab_copy(&l, 2, gpu, pinned, 30000);                                         /* 5 */
    lab_copy(&l, 2, gpu, pinned, 30000);                                         /* 6 */
    lab_copy(&l, 3, gpu, host, 30000);                                           /* 7 */
    lab_spin(&l, 1, 10);                                                         /* 8 */
    lab_spin(&l, 1, 10);                                                         /* 9 */
    lab_copy(&l, 3, gpu, host, 30000);                                           /* 10 */
    l.failed += launch_matmul(b, a, a, false, l.stream[1], NULL) != SL_OK;       /* 11 */
    lab_spin(&l, 1, 10);                                                         /* 12 */
    lab_copy(&l, 2, gpu, pinned, 30000);                                         /* 13 */
    l.failed += sl_cuda_memset_async(gpu, 0, 30000, l.stream[4], NULL) != SL_OK; /* 14 */
    lab_copy(&l, 3, gpu, host, 30000);                                           /* 15 */
    lab_copy(&l, 3, gpu, host, 30000);                                           /* 16 */
    lab_copy(&l, 3, gpu, host, 30000);                                           /* 17 */
    lab_copy(&l, 3, gpu, host, 30000);                                           /* 18 */
    lab_spin(&l, 1, 10);                                                         /* 19 */
    lab_end(&l);
    is_int(call_ns(&l, 0), 600, "the first launch is half cold, as host_cold.first says");
    is_int(call_ns(&l, 1), 100, "the second is not");
    is_int(call_ns(&l, 2), 1200, "nor do launches warm the first product");
    is_int(call_ns(&l, 3), 200, "but it the second");
    is_int(call_ns(&l, 4), 1200, "and not one of another shape");
    is_int(call_ns(&l, 5), 1800, "the first copy is half cold");
    is_int(call_ns(&l, 6), 300, "the second is not");
    is_int(call_ns(&l, 8), 400, "30000 bytes of the host's work cool a launch by 0.3");
    is_int(call_ns(&l, 9), 100, "once");
    is_int(call_ns(&l, 11), 1400, "60000 since the last one cool a product by 0.6");
    is_int(call_ns(&l, 12), 100, "which warms launches, being one");
    is_int(call_ns(&l, 13), 1200, "30000 since the last copy, which was one of them");
    is_int(call_ns(&l, 14), 400, "a memset has no cold cost");
    is_int(call_ns(&l, 19), 1100, "more than 100000 cool a launch no further");
    lab_close(&l);
}

/* Without host_cold.bytes any call comes after enough: every one has that cost. */
static void always_cold(void)
{
    const lab_setup setup = { LAB_MORE({ "host.launch_us", 0.1 }, { "host_cold.launch_us", 1 }) };
    lab l;
    lab_open(&l, &setup);
    lab_spin(&l, 1, 10);
    lab_spin(&l, 1, 10);
    lab_end(&l);
    is_int(call_ns(&l, 1), 1100, "with no amount of other work each launch is cold");
    lab_close(&l);
}

/* Products of the same shape in two modes have a place each. */
static void two_modes(void)
{
    const lab_setup setup = {
        LAB_MORE({ "host.matmul_us", 0.2 }, { "host_cold.bytes", 50000 },
                 { "host_cold.matmul_us", 2 }),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *a = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    sl_tensor *b = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    for (int i = 0; i < 4; i++)
        l.failed += launch_matmul(b, a, a, i % 2 == 1, l.stream[1], NULL) != SL_OK;
    lab_end(&l);
    is_int(call_ns(&l, 0), 2200, "the first product is cold");
    is_int(call_ns(&l, 1), 2200, "so is the first in TF32");
    is_int(call_ns(&l, 2), 200, "which does not take the other's place");
    is_int(call_ns(&l, 3), 200, "nor the other its");
    lab_close(&l);
}

int main(void)
{
    plan(0);
    uploads();
    downloads();
    just_written();
    page_locked();
    without_tables();
    cold_calls();
    two_modes();
    always_cold();
    return done_testing();
}
