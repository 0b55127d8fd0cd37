/* t-23-nccl-library.c - where NCCL is looked for, and what is said where it is not, or is no NCCL that
 * can be used. Each case is a process of its own, since the library is opened once. Where this
 * machine has nccl.h, what core/cuda/nccl.h declares is compared with it. */
#define NCCL_FILE "libnccl-played.so.2"
#include "../../core/cuda/nccl.c"

#include "../tap.h"

#include <sys/stat.h>
#include <sys/wait.h>

#if defined(__has_include)
#if __has_include(<nccl.h>)
#include <nccl.h>
#define HAS_HEADER 1
#endif
#endif

void cuda_ask_fault(cuda_device *dev) { (void)dev; }

static char home[PATH_MAX], built[PATH_MAX]; /* a folder of ours; where fake_nccl.so is */

static void run(const char *format, const char *a, const char *b)
{
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command, format, a, b);
    if (system(command) != 0) diag("failed: %s", command);
}

/* A Python in `folder` that has the package, or not. */
static void make_python(const char *folder, bool has_package)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", home, folder);
    run("mkdir -p '%s/bin' && cp /bin/true '%s/bin/python3'", path, path);
    if (!has_package) return;
    run("mkdir -p '%s/lib/python3.11/site-packages/nvidia/nccl/lib'", path, "");
    strcat(path, "/lib/python3.11/site-packages/nvidia/nccl/lib/" NCCL_FILE);
    run("cp '%s/fake_nccl.so' '%s'", built, path);
}

/* What opening says: "" if it works. The variables are "NAME=value" in the folder, NULL at the end. */
static const char *opened(const char *const *variables)
{
    static char said[400];
    int ends[2];
    ssize_t n = 0;
    if (pipe(ends) != 0) abort();
    pid_t child = fork();
    if (child == 0) {
        sl_error err = { .msg = "" };
        unsetenv("VIRTUAL_ENV");
        setenv("PATH", "/nowhere", 1);
        for (; *variables; variables++) {
            char name[32], value[2 * PATH_MAX];
            size_t length = strcspn(*variables, "=");
            snprintf(name, sizeof name, "%.*s", (int)length, *variables);
            snprintf(value, sizeof value, "%s/%s", home, *variables + length + 1);
            setenv(name, value, 1);
        }
        cuda_nccl_open(&err);
        if (write(ends[1], err.msg, strlen(err.msg)) < 0) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    while (n < (ssize_t)sizeof said - 1) {
        ssize_t got = read(ends[0], said + n, sizeof said - 1 - (size_t)n);
        if (got <= 0) break;
        n += got;
    }
    said[n] = '\0';
    close(ends[0]);
    waitpid(child, NULL, 0);
    return said;
}

#define OPENED(...) opened((const char *const[]){ __VA_ARGS__, NULL })

static void test_found(void)
{
    char path[2 * PATH_MAX];
    make_python("venv", true);
    is_str(OPENED("VIRTUAL_ENV=venv"), "", "in the active virtual environment");
    is_str(OPENED("PATH=venv/bin"), "", "beside the python3 on PATH");
    make_python("empty", false);
    is_str(OPENED("PATH=empty/bin"),
           "there is no NCCL (" NCCL_FILE "): not where the loader looks, and not in the package "
           "nvidia-nccl of a Python; STREAMLAB_NCCL can name the file",
           "a Python without it");
    snprintf(path, sizeof path, "%s/empty/pyvenv.cfg", home);
    run("printf 'home = %s/venv/bin\\n' > '%s'", home, path);
    is_str(OPENED("PATH=empty/bin"), "", "in the base of a virtual environment");
    run("mkdir -p '%s/links' && ln -s ../venv/bin/python3 '%s/links/python3'", home, home);
    is_str(OPENED("PATH=links"), "", "where the link python3 leads");
}

static void test_refused(void)
{
    run("cp '%s/fake_cupti.so' '%s/other.so'", built, home);
    is_str(OPENED("STREAMLAB_NCCL=other.so"),
           NCCL_FILE " has no function ncclGetVersion: 2.7 or later is needed",
           "a library that is another one");
    const char *said = OPENED("STREAMLAB_NCCL=missing.so");
    ok(strstr(said, "STREAMLAB_NCCL names a file that is no NCCL: ") == said, "a file that is not "
                                                                              "there");
}

#ifdef HAS_HEADER
static void test_header(void)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    is_int(sizeof(cuda_nccl_config), sizeof(ncclConfig_t), "ncclConfig_t has this size");
    is_int(offsetof(cuda_nccl_config, cta_policy), offsetof(ncclConfig_t, CTAPolicy),
           "the policy is where it should be");
    is_int(NCCL_CTA_POLICY_ZERO, 2, "and has this number");
#else
    skip(3, "nccl.h is older than 2.28");
#endif
    is_int(offsetof(cuda_nccl_config, max_ctas), offsetof(ncclConfig_t, maxCTAs),
           "so are the channels");
    is_int(offsetof(cuda_nccl_config, split_share), offsetof(ncclConfig_t, splitShare),
           "and where 2.17 ends");
    is_int(sizeof(cuda_nccl_id), sizeof(ncclUniqueId), "ids");
    ok(ncclFloat32 == 7 && ncclBfloat16 == 9 && ncclFloat16 == 6 && ncclUint8 == 1
           && ncclFloat64 == 8 && ncclInt32 == 2,
       "dtypes");
    ok((int)ncclSum == SL_SUM && (int)ncclProd == SL_PROD && (int)ncclMax == SL_MAX
           && (int)ncclMin == SL_MIN && (int)ncclAvg == SL_AVG,
       "reductions");
    ok(ncclUnhandledCudaError == (int)CUDA_NCCL_CUDA_ERROR
           && ncclInProgress == (int)CUDA_NCCL_IN_PROGRESS,
       "and errors");
}
#else
static void test_header(void) { skip(9, "there is no nccl.h"); }
#endif

int main(int argc, char **argv)
{
    char *slash;
    (void)argc;
    plan(0);
    snprintf(built, sizeof built, "%s", argv[0]);
    slash = strrchr(built, '/');
    if (slash) *slash = '\0';
    snprintf(home, sizeof home, "/tmp/streamlab-nccl.XXXXXX");
    if (!mkdtemp(home)) abort();
    unsetenv("STREAMLAB_NCCL");
    test_found();
    test_refused();
    test_header();
    run("rm -rf '%s'%s", home, "");
    return done_testing();
}
