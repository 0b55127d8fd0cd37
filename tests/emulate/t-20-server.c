/* t-20-server.c - kernels of strangers: another process compiles and runs them, and refuses what is
 * no kernel. The fences of the system's are the program's (tests/labs); here they are counted. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "kernel.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/emulate/wire.h"

static struct { /* shared with the server and its processes */
    volatile int compilers, kernels, time_is_up;
} * seen;

static bool time_is_left(void) { return !seen->time_is_up; }
static bool fence_compiler(void) { return seen->compilers++ >= 0; }
static bool fence_kernel(void) { return seen->kernels++ >= 0; }

static pid_t server;

/* The end of the socket that is here. */
static int start_server(void)
{
    static const sl_custom_fences fences = { time_is_left, fence_compiler, fence_kernel };
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    server = fork();
    if (server == 0) {
        close(ends[0]);
        sl_custom_serve(ends[1], &fences);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static const char *const args[] = { "in f32*", "out f32*", "i32", NULL };

static test_kernel *make(const char *source) { return test_kernel_new("twice", args, source); }

static const char twice[] = "__global__ void twice(const float *x, float *y, int n)\n"
                            "{\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i < n) y[i] = 2 * x[i];\n"
                            "}\n";

static sl_status run_twice(test_kernel *kernel, float *x, float *y, int n, int claimed)
{
    const test_arg values[] = { test_tensor(x, (size_t)n * sizeof *x),
                                test_tensor(y, (size_t)n * sizeof *y), test_i32(claimed) };
    const test_launch launch = { .grid = { 4 }, .block = { 256 } };
    return test_run(kernel, launch, values);
}

static void test_values(void)
{
    test_kernel *kernel = make(twice);
    float x[1000], y[1000];
    bool right = true;
    for (int i = 0; i < 1000; i++)
        x[i] = (float)i, y[i] = -1;
    is_int(run_twice(kernel, x, y, 1000, 1000), SL_OK, "the server runs a kernel");
    for (int i = 0; i < 1000; i++)
        right = right && y[i] == 2 * (float)i;
    ok(right, "the values are right");
    is_int(seen->compilers, 2, "there was a fence around each compiler");
    is_int(seen->kernels, 1, "and around the kernel");
    y[0] = -1;
    is_int(run_twice(kernel, x, y, 1000, 1024), SL_EKERNEL, "an access out of bounds is reported");
    ok(strstr(test_err.msg, "of block (3,0,0)") && strstr(test_err.msg, "of 1000"),
       "with the same words: %s", test_err.msg);
    is_double(y[0], -1, 0, "and nothing is changed");
    is_int(run_twice(kernel, x, y, 1000, 1000), SL_OK, "the server goes on");
    test_kernel_free(kernel);
}

/* The status of building it, and words of the message or the log. */
static bool is_refused(const char *source, sl_status status, const char *words)
{
    test_kernel *kernel = make(source);
    bool found = kernel->status == status
                 && (strstr(test_err.msg, words)
                     || (kernel->custom.log && strstr(kernel->custom.log, words)));
    if (!found) diag("  %d: %s", (int)kernel->status, test_err.msg);
    test_kernel_free(kernel);
    return found;
}

#define KERNEL "__global__ void twice(const float *x, float *y, int n) { y[0] = "

static void test_sources(void)
{
    ok(is_refused(KERNEL "z; }", SL_ECOMPILE, "kernel.cu:10:"),
       "messages of the compiler come back");
    ok(is_refused("#include </etc/passwd>\n" KERNEL "0; }", SL_ECOMPILE, "#include of /etc/passwd"),
       "the server checks sources itself");
    ok(is_refused("float f() { return 1; } float a = f() + threadIdx.x;\n" KERNEL "a; }",
                  SL_ECOMPILE, "variable a lies in"),
       "what would run when it is loaded is refused");
    ok(is_refused("extern \"C\" int getpid(); int (*const p)() = getpid;\n" KERNEL "p(); }",
                  SL_ECOMPILE, "getpid is refused here: a kernel calls functions of CUDA's"),
       "and so is a function of the host's, by its name");
    ok(is_refused(
           "extern \"C\" double roundeven(double); double (*const p)(double) = roundeven;\n" KERNEL
           "p(2); }",
           SL_OK, ""),
       "but not the address of one for numbers");
    is_int(seen->kernels, 3, "none of them has been run");
}

/* Sends bytes that no client of ours sends, and gives what comes back. */
static sl_status send_nonsense(int fd, uint32_t kind, size_t n)
{
    emu_message m = { .kind = kind }, answer;
    sl_status status = SL_OK;
    for (size_t i = 0; i < n; i++)
        emu_put_number(&m, UINT64_C(0x9e3779b97f4a7c15) * (i + n + kind));
    if (!emu_send(fd, &m, NULL) || !emu_receive(fd, &answer, NULL)) abort();
    if (answer.n > 0) status = emu_get_error(&answer, &test_err);
    emu_message_free(&m);
    emu_message_free(&answer);
    return status;
}

static void test_nonsense(int fd)
{
    bool refused = true;
    for (size_t n = 0; n < 200; n++)
        refused = refused && send_nonsense(fd, EMU_BUILD, n) == SL_EINVAL
                  && send_nonsense(fd, EMU_RUN, n) == SL_EINVAL
                  && send_nonsense(fd, EMU_CLOSE, n) == SL_OK
                  && send_nonsense(fd, EMU_TIME_IS_UP + 7, n) == SL_OK;
    ok(refused, "messages of nonsense are refused");
    ok(is_refused(twice, SL_OK, ""), "and the server goes on");
}

static volatile sig_atomic_t signalled;
static void on_signal(int number)
{
    (void)number;
    signalled = 1;
}

static void test_time(void)
{
    signal(SIGXCPU, on_signal);
    seen->time_is_up = 1;
    ok(is_refused(twice, SL_EINTERRUPT, "time is used up"),
       "when its time is up, nothing is served");
    ok(signalled, "and this process is told so by a signal");
    seen->time_is_up = 0;
}

static void test_end(void)
{
    test_kernel *kernel = make(twice);
    float x[4] = { 0 };
    is_int(kernel->status, SL_OK, "there is a kernel");
    kill(server, SIGKILL);
    is_int(run_twice(kernel, x, x, 4, 4), SL_EIO, "where the server has ended, a launch fails");
    test_kernel_free(kernel);
    ok(is_refused(twice, SL_EIO, "has ended"), "and so does a new kernel");
    waitpid(server, NULL, 0);
}

int main(void)
{
    int fd;
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fd = start_server();
    is_int(sl_custom_use_server(fd, &test_err), SL_OK, "the server answers");
    test_values();
    test_sources();
    test_nonsense(fd);
    test_time();
    test_end();
    return done_testing();
}
