/* plugin.c - finding and loading the CUDA backend, streamlab_cuda.so.
 *
 * It is a file of its own so that the program starts where CUDA does not exist. A
 * loaded plugin is never unloaded: its libraries have threads and exit handlers.
 */
#define _GNU_SOURCE      /* dladdr, in glibc and musl */
#define _DARWIN_C_SOURCE /* and in macOS */

#include "device.h"

#include <dlfcn.h>
#ifdef __linux__
#include <elf.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLUGIN_FILE "streamlab_cuda.so"
#define PLUGIN_VARIABLE "STREAMLAB_CUDA_PLUGIN"

enum { PATH_BYTES = SL_FOLDER_BYTES };

/* ---- where ------------------------------------------------------------------ */

/* The path of the program, where the system tells it; else "". */
static void program_path(char path[PATH_BYTES])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    path[n > 0 ? n : 0] = '\0';
}

/* The file that holds this code: the module, or the program. For a program the loader
 * says what it was called, which without a slash was found by $PATH. */
static void own_path(char path[PATH_BYTES])
{
    Dl_info info = { 0 };
    char *real = NULL;
    if (dladdr((void *)(uintptr_t)&sl__plugin_backend, &info) && info.dli_fname
        && strchr(info.dli_fname, '/'))
        real = realpath(info.dli_fname, NULL);
    if (real && strlen(real) < PATH_BYTES)
        strcpy(path, real);
    else
        program_path(path);
    free(real);
}

void sl_own_folder(char folder[SL_FOLDER_BYTES])
{
    own_path(folder);
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static sl_status find_beside_program(char path[PATH_BYTES], sl_error *err)
{
    /* Beside it, as in a build; from bin/; from lib/lua/5.4/, where the module is. */
    static const char *const places[] = {
        "%s/" PLUGIN_FILE,
        "%s/../lib/streamlab/" PLUGIN_FILE,
        "%s/../../streamlab/" PLUGIN_FILE,
    };
    char folder[PATH_BYTES];
    sl_own_folder(folder);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int len = snprintf(path, PATH_BYTES, places[i], folder);
        if (len < PATH_BYTES && is_there(path)) return SL_OK;
    }
    return sl_fail(err, SL_ENOTFOUND,
                   "this build has no CUDA backend: " PLUGIN_FILE " is not beside the program "
                   "(in %.120s)",
                   folder);
}

static sl_status find_file(char path[PATH_BYTES], sl_error *err)
{
    const char *given = getenv(PLUGIN_VARIABLE);
    if (!given) return find_beside_program(path, err);
    if (!*given || !strcmp(given, "none"))
        return sl_fail(err, SL_ENOTFOUND,
                       "the CUDA backend is switched off: " PLUGIN_VARIABLE " is \"%s\"", given);
    if (strlen(given) + 2 >= PATH_BYTES || !is_there(given))
        return sl_fail(err, SL_ENOTFOUND, PLUGIN_VARIABLE " names a file that is not there: %.160s",
                       given);
    if (!strchr(given, '/')) { /* dlopen would look for it in the libraries' folders */
        snprintf(path, PATH_BYTES, "./%s", given);
        return SL_OK;
    }
    strcpy(path, given);
    return SL_OK;
}

/* ---- loading ----------------------------------------------------------------- */

/* A file that was cut short maps, and then ends the process with SIGBUS inside dlopen. The
 * section headers come last in it. */
static bool is_cut_short(const char *path)
{
    bool cut = false;
#ifdef ELFCLASS64
    Elf64_Ehdr head;
    struct stat info;
    FILE *file = fopen(path, "rb");

    if (!file) return false; /* dlopen says why */
    if (fread(&head, sizeof head, 1, file) == 1 && !fstat(fileno(file), &info)
        && !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64)
        cut = (uint64_t)info.st_size < head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize;
    fclose(file);
#else
    (void)path;
#endif
    return cut;
}

/* POSIX: what dlsym gives may be a function, though C has no such conversion. */
static sl_backend_entry_fn find_entry(void *library)
{
    void *symbol = dlsym(library, SL_BACKEND_ENTRY);
    sl_backend_entry_fn entry = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

static sl_status check_backend(const sl_backend *backend, sl_error *err)
{
    if (backend->abi_version != SL_BACKEND_ABI)
        return sl_fail(err, SL_EUNSUPPORTED,
                       PLUGIN_FILE " has interface version %u, needed is %u: it belongs to "
                                   "another version of streamlab",
                       (unsigned)backend->abi_version, (unsigned)SL_BACKEND_ABI);
    if (strcmp(backend->name, "cuda"))
        return sl_fail(err, SL_EUNSUPPORTED, PLUGIN_FILE " is the backend \"%.40s\", not cuda",
                       backend->name);
    return SL_OK;
}

static sl_status load(const char *path, const sl_backend **out, sl_error *err)
{
    bool cut = is_cut_short(path);
    void *library = cut ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library ? NULL : cut ? PLUGIN_FILE " is cut short" : dlerror();
    char why[200] = "";
    if (!library)
        return sl_fail(err, SL_EUNSUPPORTED, "the CUDA backend cannot be loaded: %.200s",
                       reason ? reason : "the loader gives no reason");
    sl_backend_entry_fn entry = find_entry(library);
    if (!entry)
        return sl_fail(err, SL_EUNSUPPORTED,
                       PLUGIN_FILE " is no backend: it has no function " SL_BACKEND_ENTRY);
    const sl_backend *backend = entry(why, sizeof why);
    if (!backend)
        return sl_fail(err, SL_EUNSUPPORTED, "the CUDA backend cannot work here: %.200s",
                       why[0] ? why : "it gives no reason");
    sl_status status = check_backend(backend, err);
    if (status == SL_OK) *out = backend;
    return status;
}

sl_status sl__plugin_backend(const char *name, const sl_backend **backend, sl_error *err)
{
    static const sl_backend *loaded; /* remembered for the process, as the loader does */
    static sl_error refusal;
    char path[PATH_BYTES];
    if (strcmp(name, "cuda"))
        return sl_fail(err, SL_ENOTFOUND, "there is no plugin for a backend \"%.40s\"", name);
    if (!loaded && refusal.status == SL_OK && !find_file(path, &refusal))
        load(path, &loaded, &refusal);
    if (!loaded) {
        if (err) *err = refusal;
        return refusal.status;
    }
    *backend = loaded;
    return SL_OK;
}
