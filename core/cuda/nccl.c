/* nccl.c - NCCL: found and opened when the first communicator is made; its errors.
 *
 * It is looked for in this order:
 *   1. the file that STREAMLAB_NCCL names
 *   2. libnccl.so.2 where the loader looks, after what the process has loaded already
 *   3. in the package nvidia-nccl, which PyTorch brings: of the virtual environment that is active
 *      (VIRTUAL_ENV), of the first python3 on PATH, and of that one's base if it is a virtual
 *      environment (pyvenv.cfg). Python is not run
 *   4. in the toolkit's folder
 *
 * NCCL's multicast over NVLink is switched off in the environment before, unless the user has set
 * the variable: it needs a fabric manager that is in order on the whole machine, and without one
 * NCCL fails or hangs where everything else works.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "nccl.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NCCL_FILE /* a test gives one that no system has */
#define NCCL_FILE "libnccl.so.2"
#endif
enum { LEAST_VERSION = 20700 }; /* ncclSend and ncclRecv */

static struct {
    void *handle;
    cuda_nccl nccl;
    char failure[400]; /* "": not tried */
} library;

/* ---- finding ---- */

/* The first failure of a file that is there says more than that no other place has it. */
static bool try_file(const char *path)
{
    library.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library.handle) return true;
    const char *why = dlerror();
    if (!library.failure[0])
        snprintf(library.failure, sizeof library.failure, NCCL_FILE " cannot be opened: %.300s",
                 why ? why : "the loader does not say why");
    return false;
}

static bool try_pattern(const char *prefix, const char *rest)
{
    char pattern[PATH_MAX + 100];
    glob_t found;
    bool opened = false;
    if (snprintf(pattern, sizeof pattern, "%s%s", prefix, rest) >= (int)sizeof pattern)
        return false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !opened; i++)
            opened = try_file(found.gl_pathv[i]);
    globfree(&found);
    return opened;
}

/* Of a Python that lies in `prefix`/bin. Debian's packages are in python3/dist-packages. */
static bool try_prefix(const char *prefix)
{
    return try_pattern(prefix, "/lib/python3*/site-packages/nvidia/nccl/lib/" NCCL_FILE)
           || try_pattern(prefix, "/lib64/python3*/site-packages/nvidia/nccl/lib/" NCCL_FILE)
           || try_pattern(prefix, "/lib/python3*/dist-packages/nvidia/nccl/lib/" NCCL_FILE)
           || try_pattern(prefix, "/local/lib/python3*/dist-packages/nvidia/nccl/lib/" NCCL_FILE);
}

/* Cuts the last part off. False: there is none. */
static bool to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = '\0';
    return true;
}

/* The folder above the one with that python3: "/usr" of "/usr/bin/python3". */
static bool try_python(const char *python)
{
    char prefix[PATH_MAX];
    if (snprintf(prefix, sizeof prefix, "%s", python) >= (int)sizeof prefix) return false;
    return to_parent(prefix) && to_parent(prefix) && try_prefix(prefix);
}

/* "home = /usr/bin" in the configuration of a virtual environment: the base that it was made of. */
static bool try_base(const char *python)
{
    char path[PATH_MAX + 16], line[PATH_MAX + 16], home[PATH_MAX];
    bool opened = false;
    if (snprintf(path, sizeof path - 16, "%s", python) >= (int)sizeof path - 16) return false;
    if (!to_parent(path) || !to_parent(path)) return false;
    strcat(path, "/pyvenv.cfg");
    FILE *file = fopen(path, "r");
    while (file && !opened && fgets(line, sizeof line, file)) {
        if (sscanf(line, " home = %4095[^\n\r]", home) != 1) continue;
        strcat(home, home[0] && strlen(home) < sizeof home - 9 ? "/python3" : "");
        opened = try_python(home);
    }
    if (file) fclose(file);
    return opened;
}

/* As it was found, where its links lead, and the base of a virtual environment. */
static bool try_python_on_path(void)
{
    const char *rest = getenv("PATH");
    char python[PATH_MAX];
    while (rest && *rest) {
        size_t length = strcspn(rest, ":");
        snprintf(python, sizeof python, "%.*s/python3", (int)(length < PATH_MAX ? length : 0),
                 rest);
        rest += length + (rest[length] == ':');
        if (length == 0 || access(python, X_OK) != 0) continue;
        if (try_python(python) || try_base(python)) return true;
        char *real = realpath(python, NULL);
        bool opened = real && try_python(real);
        free(real);
        return opened;
    }
    return false;
}

static bool try_loader(char *why, size_t why_bytes)
{
    library.handle = dlopen(NCCL_FILE, RTLD_NOW | RTLD_LOCAL);
    const char *text = library.handle ? NULL : dlerror();
    snprintf(why, why_bytes, "%s", text ? text : "the loader does not say why");
    return library.handle != NULL;
}

static bool look_for(void)
{
    const char *given = getenv("STREAMLAB_NCCL"), *environment = getenv("VIRTUAL_ENV");
    char why[200];
    if (given) {
        if (try_file(given)) return true;
        snprintf(library.failure, sizeof library.failure,
                 "STREAMLAB_NCCL names a file that is no NCCL: %.200s", given);
        return false;
    }
    if (try_loader(why, sizeof why) || (environment && try_prefix(environment))
        || try_python_on_path() || try_pattern("/usr/local/cuda/lib64", "/" NCCL_FILE)
        || try_pattern("/usr/local/cuda/lib", "/" NCCL_FILE))
        return true;
    if (!library.failure[0])
        snprintf(library.failure, sizeof library.failure,
                 "there is no NCCL (" NCCL_FILE "): not where the loader looks, and not in the "
                 "package nvidia-nccl of a Python; STREAMLAB_NCCL can name the file");
    return false;
}

/* ---- opening ---- */

/* ISO C has no cast from an object pointer to a function pointer; POSIX asks for the same
 * representation. */
static bool find(const char *name, void *function, size_t bytes)
{
    void *symbol = dlsym(library.handle, name);
    memcpy(function, &symbol, bytes);
    return symbol != NULL;
}

static bool find_functions(void)
{
    cuda_nccl *nccl = &library.nccl;
#define X(name, args)                                                                 \
    if (!find("nccl" #name, &nccl->name, sizeof nccl->name)) {                        \
        snprintf(library.failure, sizeof library.failure,                             \
                 NCCL_FILE " has no function nccl" #name ": 2.7 or later is needed"); \
        return false;                                                                 \
    }
    CUDA_NCCL_FUNCTIONS(X)
#undef X
    find("ncclGetErrorString", &nccl->GetErrorString, sizeof nccl->GetErrorString);
    find("ncclGetLastError", &nccl->GetLastError, sizeof nccl->GetLastError);
    find("ncclCommInitRankConfig", &nccl->CommInitRankConfig, sizeof nccl->CommInitRankConfig);
    if (nccl->GetVersion(&nccl->version) == CUDA_NCCL_SUCCESS && nccl->version >= LEAST_VERSION)
        return true;
    snprintf(library.failure, sizeof library.failure,
             NCCL_FILE " is release %d: 2.7 (20700) or later is needed", nccl->version);
    return false;
}

const cuda_nccl *cuda_nccl_open(sl_error *err)
{
    static bool works;
    if (works) return &library.nccl;
    if (!library.failure[0]) {
        setenv("NCCL_NVLS_ENABLE", "0", 0);
        setenv("NCCL_RUNTIME_CONNECT", "0", 0); /* not in the first collective: labs are confined */
        works = look_for() && find_functions();
        if (works) return &library.nccl;
    }
    sl_fail(err, SL_EUNSUPPORTED, "%s", library.failure);
    return NULL;
}

/* ---- errors ---- */

sl_status cuda_nccl_check(const cuda_comm *comm, int code, const char *call, sl_error *err)
{
    const cuda_nccl *nccl = &library.nccl;
    if (code == CUDA_NCCL_SUCCESS) return SL_OK;
    for (int i = 0; comm && code == CUDA_NCCL_CUDA_ERROR && i < comm->base.all->n; i++) {
        sl_device *device = comm->base.all->rank[i]->device;
        cuda_ask_fault(cuda_of(device));
        if (device->fault.status == SL_OK) continue;
        if (err) *err = device->fault;
        return SL_EFAULT;
    }
    const char *text = nccl->GetErrorString ? nccl->GetErrorString(code) : "an error";
    const char *last = nccl->GetLastError ? nccl->GetLastError(comm ? comm->handle : NULL) : NULL;
    bool has_more = last && *last;
    sl_fail(err, SL_EBACKEND, "%s: %s%s%.300s", call, text, has_more ? ": " : "",
            has_more ? last : "");
    if (err) err->backend_code = code;
    return SL_EBACKEND;
}
