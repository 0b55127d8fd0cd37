/* cupti_find.c - finds libcupti in a program that somebody else wrote. In this order:
 *   1. one that is loaded: PyTorch brings its own, and two in a process do not get along
 *   2. the folders in the environment variable STREAMLAB_CUDA_LIB, separated by colons
 *   3. beside the CUDA libraries that are loaded, as NVIDIA's wheels and toolkits have it
 *   4. where the loader looks
 *   5. in the toolkit that CUDA_HOME or CUDA_PATH names, and /usr/local/cuda
 * Of several releases the newest that the driver knows.
 */
#define _GNU_SOURCE /* dl_iterate_phdr, RTLD_NOLOAD */

#include "recorder.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The releases of CUDA whose libcupti is looked for, the newest first. Those of CUDA 11 have the
 * minor release in the file's name; before 11.4 records had no graphs. */
static const struct release {
    int major;
    const char *number;
} releases[] = {
    { 14, "14" },   { 13, "13" },   { 12, "12" },   { 11, "11.8" },
    { 11, "11.7" }, { 11, "11.6" }, { 11, "11.5" }, { 11, "11.4" },
};
enum { N_RELEASES = sizeof releases / sizeof *releases };

cupti_functions cupti;

/* ---- places ---- */

enum { NAME_BYTES = 32 };

typedef struct search {
    void *handle;
    char name[NAME_BYTES]; /* of the library that is looked for */
} search;

static void name_library(search *s, const struct release *release)
{
    snprintf(s->name, sizeof s->name, "libcupti.so.%s", release->number);
}

static void open_path(search *s, const char *path)
{
    if (!s->handle && access(path, R_OK) == 0) s->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* In the first `length` characters of a folder, and what is named below it. */
static void look_in(search *s, const char *folder, size_t length, const char *below)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s%s/%s", (int)length, folder, below, s->name);
    if (length > 0 && n > 0 && (size_t)n < sizeof path) open_path(s, path);
}

static void look_in_list(search *s, const char *folders)
{
    for (const char *rest = folders; rest && *rest && !s->handle;) {
        size_t length = strcspn(rest, ":");
        look_in(s, rest, length, "");
        rest += length + (rest[length] == ':');
    }
}

static void look_in_toolkit(search *s, const char *home)
{
    static const char *const below[] = { "/lib64", "/lib", "/extras/CUPTI/lib64" };
    for (size_t i = 0; home && i < sizeof below / sizeof *below; i++)
        look_in(s, home, strlen(home), below[i]);
}

/* A toolkit has CUPTI in the same folder or in extras/CUPTI/lib64, and NVIDIA's wheels for CUDA 12
 * in nvidia/cuda_cupti/lib, where nvidia/cuda_runtime/lib has the run time. */
static int look_beside(struct dl_phdr_info *object, size_t bytes, void *ud)
{
    static const char *const below[] = { "", "/../extras/CUPTI/lib64", "/../../cuda_cupti/lib" };
    search *s = ud;
    const char *name = object->dlpi_name, *slash = name ? strrchr(name, '/') : NULL;
    (void)bytes;
    if (!slash
        || (strncmp(slash, "/libcudart.so", 13) != 0 && strncmp(slash, "/libcu", 6) != 0
            && strncmp(slash, "/libnv", 6) != 0))
        return 0;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        look_in(s, name, (size_t)(slash - name), below[i]);
    return s->handle != NULL;
}

static void look_everywhere(search *s)
{
    look_in_list(s, getenv("STREAMLAB_CUDA_LIB"));
    if (!s->handle) dl_iterate_phdr(look_beside, s);
    if (!s->handle) s->handle = dlopen(s->name, RTLD_NOW | RTLD_LOCAL);
    if (!s->handle) look_in_toolkit(s, getenv("CUDA_HOME"));
    if (!s->handle) look_in_toolkit(s, getenv("CUDA_PATH"));
    if (!s->handle) look_in_toolkit(s, "/usr/local/cuda");
}

/* One that is loaded is the one to use, whatever the driver knows. */
static void *find_library(int newest)
{
    search s = { 0 };
    for (int i = 0; i < N_RELEASES && !s.handle; i++) {
        name_library(&s, &releases[i]);
        s.handle = dlopen(s.name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
    for (int i = 0; i < N_RELEASES && !s.handle; i++) {
        name_library(&s, &releases[i]);
        if (releases[i].major <= newest) look_everywhere(&s);
    }
    return s.handle;
}

/* ---- its clock ---- */

static uint64_t system_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t ask_cupti(void)
{
    uint64_t ns = 0;
    cupti.GetTimestamp(&ns);
    return ns;
}

/* On Linux it is the system's (cupti_activity.h), but for WSL: then CUPTI need not be asked. */
static bool is_systems_clock(void)
{
    const uint64_t before_ns = system_now(), ns = ask_cupti();
    return before_ns <= ns && ns <= system_now();
}

static bool has_systems_clock;

uint64_t cupti_now(void) { return has_systems_clock ? system_now() : ask_cupti(); }

/* ---- functions ---- */

/* ISO C has no cast from an object pointer to a function pointer. */
static bool take(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool cupti_find(int driver, char *why, size_t why_bytes)
{
    const int newest = driver > 0 ? driver / 1000 : releases[0].major;
    void *handle = find_library(newest);
    if (!handle) {
        snprintf(why, why_bytes,
                 "libcupti.so.%s to .%d is not found: it comes with CUDA's toolkit and with "
                 "PyTorch (STREAMLAB_CUDA_LIB can name its folder)",
                 releases[N_RELEASES - 1].number,
                 newest < releases[0].major ? newest : releases[0].major);
        return false;
    }
#define X(name)                                                                             \
    if (!take(handle, "cupti" #name, &cupti.name)) {                                        \
        snprintf(why, why_bytes, "libcupti has no function cupti%s: it is too old", #name); \
        return false;                                                                       \
    }
    CUPTI_NEEDED(X)
#undef X
#define X(name) take(handle, "cupti" #name, &cupti.name);
    CUPTI_OPTIONAL(X)
#undef X
    has_systems_clock = is_systems_clock();
    return true;
}
