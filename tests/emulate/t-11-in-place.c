/* t-11-in-place.c - launches that work on the tensors' own memory, without copies of it. */
#include "kernel.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 1 << 20, THREADS = 256, BYTES = N * sizeof(float) };

/* Adds 1 to the elements; one that is 7 writes where `far` says, one that is 9 never ends. */
static const char source[] = "__global__ void next(float *y, int n, int far)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i >= n) return;\n"
                             "    if (y[i] == 7) y[i + far] = 1;\n"
                             "    while (y[i] == 9) *(volatile float *)&y[i] = 9;\n"
                             "    y[i] += 1;\n"
                             "}\n";
static const char *const arguments[] = { "inout f32*", "i32", "i32", NULL };

static void fill(float *y)
{
    for (int i = 0; i < N; i++)
        y[i] = (float)(i % 5);
}

static sl_status launch(test_kernel *kernel, float *y, int n, int far)
{
    const test_arg args[] = { test_tensor(y, BYTES), test_i32(n), test_i32(far) };
    const test_launch all = { .grid = { (uint32_t)(n + THREADS - 1) / THREADS },
                              .block = { THREADS } };
    return test_run(kernel, all, args);
}

/* But for the first one. */
static bool holds(const float *y, int added)
{
    for (int i = 1; i < N; i++)
        if (y[i] != (float)(i % 5 + added)) return false;
    return true;
}

static void test_values(test_kernel *kernel, float *y)
{
    fill(y);
    is_int(launch(kernel, y, N, 0), SL_OK, "a first launch ends well");
    ok(y[0] == 1 && holds(y, 1), "and each element is changed once");
    is_int(launch(kernel, y, N, 0), SL_OK, "so does a second one");
    ok(y[0] == 2 && holds(y, 2), "which finds what the first has left");
}

/* A kernel that has not ended well before. */
static void test_first_failure(float *y)
{
    test_kernel *kernel = test_kernel_new("next", arguments, source);
    fill(y);
    y[0] = 7;
    is_int(launch(kernel, y, N, 1 << 24), SL_EKERNEL, "a first launch that goes wrong fails");
    ok(strstr(test_err.msg, "argument 1, element 16777216 of 1048576"),
       "it says where"
       ": %s",
       test_err.msg);
    ok(y[0] == 7 && holds(y, 0), "and the tensor is as it was");
    test_kernel_free(kernel);
}

static void test_later_failure(test_kernel *kernel, float *y)
{
    fill(y);
    y[0] = 7;
    is_int(launch(kernel, y, N, 1 << 24), SL_EKERNEL, "a later launch that goes wrong fails");
    ok(strstr(test_err.msg, "argument 1, element 16777216 of 1048576"),
       "it says where, too"
       ": %s",
       test_err.msg);
    fill(y);
    is_int(launch(kernel, y, N, 0), SL_OK, "the kernel still runs");
}

/* The tensors' places are known to nobody but this test. */
static void test_others(test_kernel *kernel, float *y)
{
    float *other = sl_emulate_new_memory(BYTES);
    const int64_t far = other - y;
    fill(y);
    y[0] = 7;
    other[0] = 5;
    if (far > INT32_MAX || far < INT32_MIN)
        skip(1, "the tensors are too far apart for an index");
    else
        is_int(launch(kernel, y, N, (int)far), SL_EKERNEL, "a kernel reaches no other tensor");
    is_int((int)other[0], 5, "and changes none");
    ok(sl_emulate_free_memory(other), "memory is given back");
    ok(!sl_emulate_has_memory(other) && !sl_emulate_free_memory(other), "once");
}

static void *press_ctrl_c(void *data)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    test_interrupted = 1;
    return data;
}

static sl_status interrupt(test_kernel *kernel, float *y)
{
    pthread_t thread;
    fill(y);
    y[0] = 9;
    pthread_create(&thread, NULL, press_ctrl_c, NULL);
    const sl_status status = launch(kernel, y, N, 0);
    pthread_join(thread, NULL);
    test_interrupted = 0;
    return status;
}

static void test_interrupts(test_kernel *settled, float *y)
{
    test_kernel *kernel = test_kernel_new("next", arguments, source);
    is_int(interrupt(kernel, y), SL_EINTERRUPT, "a first launch that never ends is interrupted");
    ok(y[0] == 9 && holds(y, 0), "the tensor is as it was: it can run again");
    is_int(interrupt(settled, y), SL_EKERNEL, "a later one as well");
    ok(strstr(test_err.msg, "interrupted, and what it has written is lost"),
       "but what it has changed in place is lost, and it says so"
       ": %s",
       test_err.msg);
    test_kernel_free(kernel);
}

/* Last: forks of the program's own stay known. */
static void test_forks(float *y)
{
    float plain = 0;
    int status = 0;
    ok(sl_emulate_may_change(y), "launches do not count as processes that the program forks");
    const pid_t pid = fork();
    if (pid == 0) _exit(sl_emulate_may_change(y) ? 1 : 0);
    waitpid(pid, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "a process that the program has forked must not change the memory");
    ok(!sl_emulate_may_change(y), "nor must the program, since both see it");
    ok(sl_emulate_may_change(&plain), "other memory is each one's own");
    float *later = sl_emulate_new_memory(BYTES);
    ok(sl_emulate_may_change(later), "as is memory that is made later");
    sl_emulate_free_memory(later);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_kernel *kernel = test_kernel_new("next", arguments, source);
    float *y = sl_emulate_new_memory(BYTES);
    ok(y && sl_emulate_has_memory(y), "there is memory for launches");
    test_values(kernel, y);
    test_first_failure(y);
    test_later_failure(kernel, y);
    test_others(kernel, y);
    test_interrupts(kernel, y);
    test_forks(y);
    sl_emulate_free_memory(y);
    test_kernel_free(kernel);
    return done_testing();
}
