/* How long copies and kernels take, where a profile has tables of it. 4 SMs of 1024 threads
 * and 65536 registers; a copy that no table knows moves 10 bytes a ns. */
#include "lab.h"

static void is_us(const lab *l, size_t span, double us, const char *name)
{
    is_double((double)lab_ns(l, span) / 1e3, us, 0.0011, "%s", name);
}

/* ---- copies ---- */

static void copies(void)
{
    static const double h2d[] = { 1000, 2, 2000, 3, 4000, 4 };
    const lab_setup setup = {
        LAB_TABLES(LAB_TABLE("copy_us.h2d", h2d)),
        LAB_MORE({ "copy_latency_us", 0.25 }),
    };
    lab l;
    lab_open(&l, &setup);
    lab_h2d(&l, 1, 500);
    lab_h2d(&l, 1, 1500);
    lab_h2d(&l, 1, 4000);
    lab_h2d(&l, 1, 8000);
    lab_d2h(&l, 1, 5000);
    lab_copy(&l, 1, lab_bytes(&l, SL_ON_DEVICE, 5000), lab_bytes(&l, SL_PAGEABLE, 5000), 5000);
    lab_end(&l);
    is_us(&l, 0, 2, "a copy shorter than all of its table takes as long as the first");
    is_us(&l, 1, 2.5, "half way between two entries");
    is_us(&l, 2, 4, "the last entry");
    is_us(&l, 3, 6, "beyond it as between the last two: 1 us for 2000 bytes");
    is_us(&l, 4, 0.75, "the other direction, which has no table: latency and bandwidth");
    is_us(&l, 5, 0.75, "and pageable memory, of which the table does not tell");
    lab_close(&l);
}

/* ---- kernels other than products ---- */

/* Of the i-th kind: 2 + i us for 1024, 5 + i for 4096; 0.5 us of it are no block's. */
enum { KINDS = 10 };
static const double kind_table[KINDS][4] = {
    { 1024, 2, 4096, 5 },   { 1024, 3, 4096, 6 },   { 1024, 4, 4096, 7 },  { 1024, 5, 4096, 8 },
    { 1024, 6, 4096, 9 },   { 1024, 7, 4096, 10 },  { 1024, 8, 4096, 11 }, { 1024, 9, 4096, 12 },
    { 1024, 10, 4096, 13 }, { 1024, 11, 4096, 14 },
};

#define KERNEL_TABLES                                                                              \
    LAB_TABLES(                                                                                    \
        LAB_TABLE("kernel_us.add", kind_table[0]), LAB_TABLE("kernel_us.pow", kind_table[1]),      \
        LAB_TABLE("kernel_us.powf", kind_table[2]), LAB_TABLE("kernel_us.softmax", kind_table[3]), \
        LAB_TABLE("kernel_us.sum", kind_table[4]), LAB_TABLE("kernel_us.fill", kind_table[5]),     \
        LAB_TABLE("kernel_us.rand", kind_table[6]), LAB_TABLE("kernel_us.randn", kind_table[7]),   \
        LAB_TABLE("kernel_us.memset", kind_table[8]), LAB_TABLE("kernel_us.d2d", kind_table[9])),  \
        LAB_MORE({ "kernel_fixed_us", 0.5 }, { "d2d_fixed_us", 0.5 }, { "spin_fixed_us", 0.25 })

/* Every kind once, in the order of the tables; memset and d2d of as many bytes as elements. */
static void each_kind(lab *l, sl_dtype dtype, int64_t elems)
{
    sl_stream *s = l->stream[1];
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, dtype, 64, elems / 64);
    sl_tensor *b = lab_tensor(l, SL_ON_DEVICE, dtype, 64, elems / 64);
    sl_tensor_spec scalar = { .dtype = dtype, .place = SL_ON_DEVICE };
    sl_tensor *one = NULL;
    l->failed += sl_tensor_create(l->device, &scalar, s, &one, NULL) != SL_OK;
    l->failed += launch_pair(SL_KERNEL_ADD, b, a, a, s, NULL) != SL_OK;
    l->failed += launch_number(SL_KERNEL_POW, b, a, 2, s, NULL) != SL_OK;
    l->failed += launch_number(SL_KERNEL_POW, b, a, 2.5, s, NULL) != SL_OK;
    l->failed += launch_one(SL_KERNEL_SOFTMAX, b, a, s, NULL) != SL_OK;
    l->failed += launch_one(SL_KERNEL_SUM, one, a, s, NULL) != SL_OK;
    l->failed += sl_tensor_fill(a, 1, s, NULL) != SL_OK;
    l->failed += sl_tensor_rand(a, 1, 0, s, NULL) != SL_OK;
    l->failed += sl_tensor_randn(a, 1, 0, s, NULL) != SL_OK;
    l->failed += sl_cuda_memset_async(lab_bytes(l, SL_ON_DEVICE, elems), 0, (size_t)elems, s, NULL)
                 != SL_OK;
    lab_copy(l, 1, lab_bytes(l, SL_ON_DEVICE, elems), lab_bytes(l, SL_ON_DEVICE, elems), elems);
    sl_tensor_release(one);
}

static const char *const kind_name[KINDS] = {
    "add",    "pow", "pow with another exponent", "softmax", "sum", "fill", "rand", "randn",
    "memset", "d2d",
};

static void kernels(void)
{
    const lab_setup setup = { KERNEL_TABLES };
    lab l;
    lab_open(&l, &setup);
    each_kind(&l, SL_FLOAT32, 2560); /* half way: 3.5 + i */
    lab_spin(&l, 1, 1000);
    sl_tensor *a = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    sl_tensor *large = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 128);
    l.failed += launch_pair(SL_KERNEL_MUL, a, a, a, l.stream[1], NULL) != SL_OK;
    l.failed += launch_pair(SL_KERNEL_MUL, large, large, large, l.stream[1], NULL) != SL_OK;
    l.failed += launch_number(SL_KERNEL_POW, a, a, 0.5, l.stream[1], NULL) != SL_OK;
    lab_end(&l);
    for (size_t i = 0; i < KINDS; i++)
        is_us(&l, i, 3.5 + (double)i, kind_name[i]);
    is_us(&l, KINDS, 1.25, "a spin takes its time and a fixed part");
    is_us(&l, KINDS + 1, 5, "mul is like add");
    is_us(&l, KINDS + 2, 9, "and beyond the table 3 us for each 3072");
    is_us(&l, KINDS + 3, 6, "a root is like a small whole exponent");
    lab_close(&l);
}

/* Half the bytes take what half the elements do, 2 + i; not so where instructions count. */
static void half_sized_elements(void)
{
    static const double us[KINDS] = { 2, 3, 5, 6, 6, 7, 9, 10, 11, 12 };
    const lab_setup setup = { KERNEL_TABLES };
    lab l;
    lab_open(&l, &setup);
    each_kind(&l, SL_BFLOAT16, 2048); /* as 2048: 3 + i */
    lab_end(&l);
    for (size_t i = 0; i < KINDS; i++)
        is_us(&l, i, us[i], kind_name[i]);
    lab_close(&l);
}

/* ---- products ---- */

static void product(lab *l, int stream, int64_t m, int64_t n, int64_t k, bool tf32)
{
    sl_tensor *out = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, m, n);
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, m, k);
    sl_tensor *b = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, k, n);
    l->failed += launch_matmul(out, a, b, tf32, l->stream[stream], NULL) != SL_OK;
}

static const double grid[] = { 64, 64, 10, 64, 128, 20, 128, 64, 30, 128, 128, 60 };

static void durations_of_products(void)
{
    const lab_setup setup = {
        LAB_TABLES(LAB_TABLE("gemm_grid_us.float32", grid)),
        LAB_MORE({ "gemm_fixed_us", 1 }),
    };
    lab l;
    lab_open(&l, &setup);
    product(&l, 1, 64, 64, 64, false);
    product(&l, 1, 128, 128, 128, false);
    product(&l, 1, 64, 64, 96, false);
    product(&l, 1, 64, 128, 64, false);
    product(&l, 1, 128, 64, 64, false);
    product(&l, 1, 32, 32, 32, false);
    product(&l, 1, 256, 256, 64, false);
    product(&l, 1, 64, 64, 256, false);
    product(&l, 1, 512, 128, 256, false);
    lab_end(&l);
    is_us(&l, 0, 10, "a product at a point, the fixed part in it");
    is_us(&l, 1, 60, "at the last");
    is_us(&l, 2, 15, "half way along the inner dimension");
    /* 8192 elements, a third of the way from 4096 to 16384 */
    is_us(&l, 3, 10 + 20 / 3.0, "between two areas of the output");
    is_us(&l, 4, 10 + 20 / 3.0, "whichever side is the longer one");
    is_us(&l, 5, 10, "below the grid as its first");
    is_us(&l, 6, 120, "beyond it in proportion to the area");
    is_us(&l, 7, 40, "to the inner dimension");
    is_us(&l, 8, 480, "and to both");
    lab_close(&l);
}

/* 4 blocks for 64 x 64, of 256 threads with 32 registers: an SM has room for 4. */
static const double blocks[] = { 64, 4 }, threads[] = { 64, 256 }, registers[] = { 64, 32 },
                    shared[] = { 64, 0 }, share[] = { 64, 0.6 };
#define FOOTPRINT                                                                      \
    LAB_TABLE("gemm_grid_us.float32", grid), LAB_TABLE("gemm_blocks.float32", blocks), \
        LAB_TABLE("gemm_threads.float32", threads),                                    \
        LAB_TABLE("gemm_registers.float32", registers),                                \
        LAB_TABLE("gemm_shared_bytes.float32", shared)

static void footprints(void)
{
    const lab_setup setup = { LAB_TABLES(FOOTPRINT) };
    lab l;
    lab_open(&l, &setup);
    product(&l, 1, 64, 64, 64, false);
    product(&l, 1, 128, 128, 64, false);
    lab_end(&l);
    is_int(lab_span(&l, 0)->blocks, 4, "a product has the measured grid");
    is_int(lab_span(&l, 0)->threads, 256, "blocks of so many threads");
    is_int(lab_span(&l, 0)->registers, 32, "with so many registers");
    is_int(lab_span(&l, 1)->blocks, 16, "four times the output has four times the grid");
    is_us(&l, 1, 30, "on an idle chip it takes what was measured");
    lab_close(&l);
}

/* Two products at once have a block each on every SM. */
static void beside_each_other(const lab_setup *setup, double us, const char *name)
{
    lab l;
    lab_open(&l, setup);
    product(&l, 1, 64, 64, 64, false);
    product(&l, 2, 64, 64, 64, false);
    lab_end(&l);
    is_int(lab_span(&l, 1)->start_ns, 0, "both start at once");
    is_us(&l, 0, us, name);
    is_us(&l, 1, us, name);
    lab_close(&l);
}

static void shares(void)
{
    static const double half[] = { 64, 0.5 };
    const lab_setup most = { LAB_TABLES(FOOTPRINT, LAB_TABLE("gemm_share.float32", share)) };
    const lab_setup few = { LAB_TABLES(FOOTPRINT, LAB_TABLE("gemm_share.float32", half)) };
    const lab_setup all = { LAB_TABLES(FOOTPRINT) };
    beside_each_other(&most, 12, "0.6 of an SM each: both take 1.2 times as long");
    beside_each_other(&few, 10, "0.5 each: as long as alone");
    beside_each_other(&all, 20, "all of it, if no table tells: twice as long");
}

/* 640 x 512 has 5 x 2 tiles of 128 x 256: on 4 SMs two full waves and half of one, 50 / 3 us
 * each. 384 threads with 168 registers leave no room beside them. */
static void persistent_kernels(void)
{
    static const double tf32_grid[] = { 64, 64, 10, 64, 128, 20, 512, 64, 40, 512, 128, 80 };
    static const double sms[] = { 64, 4 }, wide[] = { 64, 384 }, many[] = { 64, 168 };
    const lab_setup setup = {
        LAB_TABLES(LAB_TABLE("gemm_grid_us.tf32", tf32_grid), LAB_TABLE("gemm_blocks.tf32", sms),
                   LAB_TABLE("gemm_threads.tf32", wide), LAB_TABLE("gemm_registers.tf32", many),
                   LAB_TABLE("gemm_shared_bytes.tf32", shared)),
        LAB_MORE({ "gemm_persistent", 1 }),
    };
    lab l;
    lab_open(&l, &setup);
    product(&l, 1, 640, 512, 64, true); /* 640 * 512 / 512^2 * 40 us = 50 us */
    lab_spin_blocks(&l, 2, 1000, 1, 1024);
    product(&l, 1, 64, 64, 64, true);
    lab_end(&l);
    is_int(lab_span(&l, 0)->blocks, 4, "a persistent kernel's grid is a block an SM");
    is_us(&l, 0, 50, "it takes what was measured");
    is_double((double)lab_span(&l, 1)->start_ns, 100000 / 3.0, 1.1,
              "another kernel begins when the first SM finds no tile left");
    is_int(lab_span(&l, 2)->blocks, 4, "a product of one tile has a block an SM as well");
    lab_close(&l);
}

/* 64 x 64 have 16384 bytes, and the cache keeps 65536 for operands. */
static void warm_operands(void)
{
    static const double warm[] = { 64, 0.5 };
    const lab_setup setup = {
        LAB_TABLES(LAB_TABLE("gemm_grid_us.float32", grid), LAB_TABLE("gemm_warm.float32", warm)),
        LAB_MORE({ "l2_bytes", 131072 }, { "gemm_fixed_us", 2 }),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *t[5];
    for (int i = 0; i < 5; i++)
        t[i] = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    sl_stream *s = l.stream[1];
    l.failed += launch_matmul(t[2], t[0], t[1], false, s, NULL) != SL_OK; /* nobody used them yet */
    l.failed += launch_matmul(t[2], t[0], t[1], false, s, NULL) != SL_OK; /* 3 tensors lie behind */
    l.failed += launch_number(SL_KERNEL_POW, t[4], t[3], 2, s, NULL) != SL_OK; /* 2 more */
    l.failed += launch_matmul(t[2], t[0], t[1], false, s, NULL) != SL_OK; /* a needs room for 5 */
    l.failed += launch_matmul(t[4], t[2], t[0], false, s, NULL) != SL_OK;
    lab_end(&l);
    is_us(&l, 0, 10, "operands that nobody has used are not in the cache");
    is_us(&l, 1, 6, "those of the product before are: half of what is not fixed");
    is_us(&l, 3, 10, "an operand leaves it behind more than it holds");
    is_us(&l, 4, 6, "a result is in it too");
    lab_close(&l);
}

int main(void)
{
    plan(0);
    copies();
    kernels();
    half_sized_elements();
    durations_of_products();
    footprints();
    shares();
    persistent_kernels();
    warm_operands();
    return done_testing();
}
