/* library.c - NVIDIA's libraries, opened when they are first needed: the plugin loads
 * without them, and a script without matmul does not wait for the half GB of cublasLt.
 *
 * A library is looked for by its soname, with the major version of the toolkit that the
 * plugin was built with (libcublasLt.so.13), in this order:
 *   1. the folders in the environment variable STREAMLAB_CUDA_LIB, separated by colons,
 *      for installations in unusual places and for tests
 *   2. where the loader looks, after what the process has loaded already
 *   3. the toolkit's folder that the plugin was built with (the macro STREAMLAB_CUDA_LIB)
 *   4. /usr/local/cuda/lib64
 * and for each folder of 3 and 4 also in extras/CUPTI/lib64 beside it, where CUDA 12 has
 * CUPTI.
 *
 * All symbols are bound at once: cublasLt has so few to bind that waiting with them
 * saves nothing measurable, and what is missing shows when the library is opened. A library
 * is never closed: NVIDIA's register handlers for the process's end.
 */
#include "cuda.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STREAMLAB_CUDA_MAJOR /* a test gives one that no system has */
#define STREAMLAB_CUDA_MAJOR (CUDART_VERSION / 1000)
#endif

typedef struct library {
    const char *stem;  /* "libcublasLt" */
    void *handle;      /* NULL: not opened */
    char failure[256]; /* why it cannot be; "": not tried */
} library;

/* A process has each library once, whatever devices are open. */
static library libraries[CUDA_LIBRARIES] = {
    [CUDA_CUBLAS_LT] = { .stem = "libcublasLt" },
    [CUDA_CUBLAS] = { .stem = "libcublas" },
    [CUDA_CUPTI] = { .stem = "libcupti" },
    [CUDA_NVRTC] = { .stem = "libnvrtc" },
};

static const char *const toolkit_folders[] = {
#ifdef STREAMLAB_CUDA_LIB
    STREAMLAB_CUDA_LIB,
    STREAMLAB_CUDA_LIB "/../extras/CUPTI/lib64",
#endif
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
};

typedef struct soname {
    char text[32];
} soname;

static soname soname_of(const library *lib)
{
    soname name;
    snprintf(name.text, sizeof name.text, "%s.so.%d", lib->stem, STREAMLAB_CUDA_MAJOR);
    return name;
}

/* Opens `path`. The first failure of a file that is there is kept in lib->failure: it
 * says more than that no other place has the file. */
static bool try_path(library *lib, const char *name, const char *path)
{
    lib->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lib->handle) return true;
    const char *why = dlerror();
    if (!lib->failure[0])
        snprintf(lib->failure, sizeof lib->failure, "%s cannot be opened: %s", name,
                 why ? why : "the loader does not say why");
    return false;
}

/* In the first `length` characters of `folder`. */
static bool try_folder(library *lib, const char *name, const char *folder, size_t length)
{
    char path[PATH_MAX];
    if (length == 0 || length + strlen(name) + 2 > sizeof path) return false;
    snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    return access(path, F_OK) == 0 && try_path(lib, name, path);
}

static bool try_wished_folders(library *lib, const char *name)
{
    const char *rest = getenv("STREAMLAB_CUDA_LIB");
    while (rest && *rest) {
        size_t length = strcspn(rest, ":");
        if (try_folder(lib, name, rest, length)) return true;
        rest += length + (rest[length] == ':');
    }
    return false;
}

/* The loader's "NAME: cannot open shared object file: ..." without the name, which the
 * sentence has begun with; and what the user can do. */
static void explain_absence(library *lib, const char *name, const char *why)
{
    size_t length = strlen(name);
    if (strncmp(why, name, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
    snprintf(lib->failure, sizeof lib->failure,
             "%s cannot be opened: %.120s (STREAMLAB_CUDA_LIB can name its folder)", name, why);
}

static bool try_loader(library *lib, const char *name, char *why, size_t why_bytes)
{
    lib->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *text = lib->handle ? NULL : dlerror();
    snprintf(why, why_bytes, "%s", text ? text : "the loader does not say why");
    return lib->handle != NULL;
}

static void look_for(library *lib)
{
    soname name = soname_of(lib);
    char why[200];
    bool found = try_wished_folders(lib, name.text) || try_loader(lib, name.text, why, sizeof why);
    size_t n = sizeof toolkit_folders / sizeof *toolkit_folders;
    for (size_t i = 0; i < n && !found; i++)
        found = try_folder(lib, name.text, toolkit_folders[i], strlen(toolkit_folders[i]));
    if (!found && !lib->failure[0]) explain_absence(lib, name.text, why);
}

void *cuda_library_open(cuda_library which, sl_error *err)
{
    library *lib = &libraries[which];
    if (!lib->handle && !lib->failure[0]) look_for(lib);
    if (!lib->handle) sl_fail(err, SL_EUNSUPPORTED, "%s", lib->failure);
    return lib->handle;
}

void *cuda_library_symbol(cuda_library which, const char *name, sl_error *err)
{
    void *handle = cuda_library_open(which, err);
    void *symbol = handle ? dlsym(handle, name) : NULL;
    if (handle && !symbol)
        sl_fail(err, SL_EUNSUPPORTED,
                "%s has no function %s: it is not of the release that "
                "streamlab was built for",
                soname_of(&libraries[which]).text, name);
    return symbol;
}

sl_status cuda_library_functions(cuda_library which, const char *const *names, size_t n,
                                 void *functions, sl_error *err)
{
    void *symbols[CUDA_MOST_FUNCTIONS];
    assert(n <= CUDA_MOST_FUNCTIONS);
    for (size_t i = 0; i < n; i++) {
        symbols[i] = cuda_library_symbol(which, names[i], err);
        if (!symbols[i]) return SL_EUNSUPPORTED;
    }
    /* ISO C has no cast from an object pointer to a function pointer; POSIX asks for
     * the same representation. */
    memcpy(functions, symbols, n * sizeof *symbols);
    return SL_OK;
}
