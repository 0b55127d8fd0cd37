/* kernel_speed.c - a kernel over 16 M elements without barriers on this machine's processors, beside the same
 * loop in plain C in as many threads.
 *
 *   kernel_speed [ROUNDS]
 *
 * By turns, each ROUNDS times (15): the plain loop, on memory of malloc; a launch of the kernel as a whole, on
 * memory in which the simulator keeps what kernels work on; a launch of a kernel with the same arguments that
 * returns at once. What a launch adds to its blocks (its processes, the mapping of memory) is in both launches.
 * The plain loop's memory is not shared with the processes, after which it would be slower. Prints the medians, in ms, and
 * the plain loop's time as a part of the launch's with and without what a launch adds, in percent:
 *
 *   PLAIN LAUNCH EMPTY WHOLE% BLOCKS%
 *
 * Prints nothing if no C++ compiler is here.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../emulate/kernel.h"

enum { ELEMENTS = 16 << 20, THREADS = 256, MOST_ROUNDS = 1000, MOST_WORKERS = 256 };

static const char *const arguments[] = { "f32", "in f32*", "inout f32*", "i32", NULL };
static const char source[] =
    "__global__ void axpy(float a, const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "__global__ void nothing(float a, const float *x, float *y, int n) {}\n";

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- plain C ---- */

typedef struct part {
    float a;
    const float *x;
    float *y;
    int n;
} part;

__attribute__((noinline)) static void axpy(float a, const float *restrict x, float *restrict y,
                                           int n)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

static void *run_part(void *data)
{
    const part *p = data;
    axpy(p->a, p->x, p->y, p->n);
    return NULL;
}

static void run_plain(const float *x, float *y, int workers)
{
    pthread_t thread[MOST_WORKERS];
    part parts[MOST_WORKERS];
    for (int i = 0; i < workers; i++) {
        const int64_t first = (int64_t)ELEMENTS * i / workers;
        const int64_t last = (int64_t)ELEMENTS * (i + 1) / workers;
        parts[i] = (part){ 0.5f, x + first, y + first, (int)(last - first) };
        pthread_create(&thread[i], NULL, run_part, &parts[i]);
    }
    for (int i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
}

/* ---- launches ---- */

static void launch(test_kernel *kernel, float *x, float *y)
{
    const test_arg args[] = { test_f32(0.5f), test_tensor(x, ELEMENTS * sizeof *x),
                              test_tensor(y, ELEMENTS * sizeof *y), test_i32(ELEMENTS) };
    const test_launch all = { .grid = { ELEMENTS / THREADS }, .block = { THREADS } };
    if (test_run(kernel, all, args) == SL_OK) return;
    fprintf(stderr, "kernel_speed: %s\n", test_err.msg);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof *samples, compare);
    return samples[n / 2];
}

/* Both begin as one and get as many of the kernel's steps: the results are the same bits. */
static void check(const float *y, const float *plain_y)
{
    if (memcmp(y, plain_y, ELEMENTS * sizeof *y) == 0) return;
    fprintf(stderr, "kernel_speed: the kernel's values are not those of plain C\n");
    exit(1);
}

static float *fill(float *list, float value)
{
    if (!list) exit(1);
    for (int i = 0; i < ELEMENTS; i++)
        list[i] = value + (float)(i % 1000);
    return list;
}

static float *for_launches(float value)
{
    return fill(sl_emulate_new_memory(ELEMENTS * sizeof(float)), value);
}

/* Whole pages of malloc. */
static float *for_plain(float value)
{
    enum { PAGE = 4096 };
    void *list = aligned_alloc(PAGE, ELEMENTS * sizeof(float));
#ifdef MADV_DONTFORK
    if (list) madvise(list, ELEMENTS * sizeof(float), MADV_DONTFORK);
#endif
    return fill(list, value);
}

int main(int argc, char **argv)
{
    static double plain[MOST_ROUNDS], whole[MOST_ROUNDS], empty[MOST_ROUNDS];
    const int rounds = argc > 1 ? atoi(argv[1]) : 15;
    int workers = sl_host_processors();
    float *x = for_launches(1), *y = for_launches(2);
    float *plain_x = for_plain(1), *plain_y = for_plain(2);
    test_kernel *kernel, *nothing;
    if (test_lacks_compiler()) return 0;
    kernel = test_kernel_new("axpy", arguments, source);
    nothing = test_kernel_new("nothing", arguments, source);
    if (rounds < 1 || rounds > MOST_ROUNDS || kernel->status || nothing->status) return 1;
    if (workers > MOST_WORKERS) workers = MOST_WORKERS;
    for (int i = -1; i < rounds; i++) { /* one to warm up */
        double began = now_ms(), ended;
        const int at = i < 0 ? 0 : i;
        run_plain(plain_x, plain_y, workers);
        plain[at] = (ended = now_ms()) - began;
        launch(kernel, x, y);
        whole[at] = (began = now_ms()) - ended;
        launch(nothing, x, y);
        empty[at] = now_ms() - began;
    }
    check(y, plain_y);
    const double p = median(plain, rounds), w = median(whole, rounds), e = median(empty, rounds);
    printf("%.2f %.2f %.2f %.1f %.1f\n", p, w, e, 100 * p / w, 100 * p / (w - e));
    return 0;
}
