/* t-21-library.c - core/cuda/library.c where the libraries are missing or broken. It is
 * included, so that it looks for a major version that no system has. */
#define _GNU_SOURCE /* mkdtemp */
#define STREAMLAB_CUDA_MAJOR 99
#include "../../core/cuda/library.c"

#include "../tap.h"

#include <sys/stat.h>

/* A folder beside this program, with what is put there; it goes at the end. */
static char folder[900];
static char files[4][1000];
static int n_files;

static void remove_folder(void)
{
    while (n_files > 0)
        unlink(files[--n_files]);
    rmdir(folder);
}

static bool make_folder(const char *program)
{
    const char *slash = strrchr(program, '/');
    snprintf(folder, sizeof folder, "%.*s/library-XXXXXX", slash ? (int)(slash - program) : 1,
             slash ? program : ".");
    if (!mkdtemp(folder)) return false;
    atexit(remove_folder);
    return true;
}

/* A file of the folder that is no library. */
static void put_text(const char *name)
{
    char *path = files[n_files++];
    snprintf(path, sizeof files[0], "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    fputs("this is no library\n", f);
    fclose(f);
}

static void put_library(const char *name)
{
    char *path = files[n_files++];
    snprintf(path, sizeof files[0], "%s/%s", folder, name);
    if (symlink("../fake_cublaslt.so", path) != 0) diag("no link %s", path);
}

static void test_missing(void)
{
    sl_error err = { 0 };
    ok(!cuda_library_open(CUDA_CUPTI, &err), "a library that is nowhere is not opened");
    is_int(err.status, SL_EUNSUPPORTED, "which is reported as not supported");
    is_str(err.msg,
           "libcupti.so.99 cannot be opened: cannot open shared object file: No such "
           "file or directory (STREAMLAB_CUDA_LIB can name its folder)",
           "in a sentence with its name, what the loader said and what to do");
    sl_error again = { 0 };
    put_library("libcupti.so.99");
    ok(!cuda_library_open(CUDA_CUPTI, &again) && strcmp(again.msg, err.msg) == 0,
       "it is not looked for again, and the sentence stays");
    ok(!cuda_library_open(CUDA_CUPTI, NULL), "nor needs a caller to take the sentence");
    again.msg[0] = '\0';
    ok(!cuda_library_symbol(CUDA_CUPTI, "cuptiGetVersion", &again)
           && strcmp(again.msg, err.msg) == 0,
       "its functions are missing for the same reason");
}

static void test_broken(void)
{
    sl_error err = { 0 };
    put_text("libcublas.so.99");
    ok(!cuda_library_open(CUDA_CUBLAS, &err), "a file that is no library is not opened");
    ok(strncmp(err.msg, "libcublas.so.99 cannot be opened: ", 34) == 0
           && strstr(err.msg, folder) != NULL,
       "and the sentence says which file it was, not that others are missing");
    diag("%s", err.msg);
}

static void test_found(void)
{
    sl_error err = { 0 };
    put_library("libcublasLt.so.99");
    void *handle = cuda_library_open(CUDA_CUBLAS_LT, &err);
    ok(handle != NULL, "a library in the second of two folders is opened");
    ok(cuda_library_symbol(CUDA_CUBLAS_LT, "cublasLtMatmul", &err) != NULL,
       "and has its functions");
    ok(!cuda_library_symbol(CUDA_CUBLAS_LT, "cublasLtNoSuchThing", &err),
       "a function that it has not is not found");
    is_int(err.status, SL_EUNSUPPORTED, "which is reported as not supported");
    is_str(err.msg,
           "libcublasLt.so.99 has no function cublasLtNoSuchThing: it is not of the "
           "release that streamlab was built for",
           "with the library and the function");
}

int main(int argc, char **argv)
{
    char folders[2000];
    plan(13);
    (void)argc;
    if (!make_folder(argv[0])) return 1;
    snprintf(folders, sizeof folders, "no/such/folder:%s", folder);
    setenv("STREAMLAB_CUDA_LIB", folders, 1);
    test_missing();
    test_broken();
    test_found();
    return done_testing();
}
