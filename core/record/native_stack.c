/* native_stack.c - walks the stack of the thread that calls, up to the program's own frames. */
#define _GNU_SOURCE /* dl_iterate_phdr */

#include "native_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "../base.h"

enum { PATH_BYTES = 1024, WALKED_MOST = 256 };

typedef struct module {
    uintptr_t from, to, base; /* its code; what the file's addresses are added to */
    bool is_own;              /* the program's, not CUDA's, the system's or a package's */
    const char *path;
} module;

static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn each, void *ud);
    uintptr_t (*address_of)(struct _Unwind_Context *context);
    uintptr_t (*function_of)(struct _Unwind_Context *context);
    pthread_mutex_t lock; /* guards what follows, and no other is taken under it */
    module *modules;
    size_t n;
    unsigned long long loads; /* of libraries before they were listed */
    const char **paths;
    size_t n_paths, cap_paths;
} stack = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- modules ---- */

/* CUDA's libraries begin with one of these (a program's own may be libcustom.so), and those of
 * packages have one. */
static bool is_programs(const char *path)
{
    static const char *const cuda[] = { "libcuda.",    "libcudart",   "libcublas",
                                        "libcudnn",    "libcufft",    "libcurand",
                                        "libcusolver", "libcusparse", "libcutensor",
                                        "libcufile",   "libcupti",    "libcudadebugger",
                                        "libnv",       "libnccl" };
    static const char *const others[] = { "/site-packages/", "/dist-packages/", "/lib/python3" };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof cuda / sizeof *cuda; i++)
        if (strncmp(name, cuda[i], strlen(cuda[i])) == 0) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(path, others[i])) return false;
    return slash && strncmp(path, "/lib/", 5) != 0 && strncmp(path, "/lib64/", 7) != 0
           && strncmp(path, "/usr/lib", 8) != 0;
}

/* A copy that stays. The lock is held. */
static const char *keep_path(const char *path)
{
    for (size_t i = 0; i < stack.n_paths; i++)
        if (strcmp(stack.paths[i], path) == 0) return stack.paths[i];
    char *made = strdup(path);
    if (!made || !SL__GROW(stack.paths, stack.cap_paths, stack.n_paths + 1)) {
        free(made);
        return "";
    }
    return stack.paths[stack.n_paths++] = made;
}

typedef struct listing {
    module *all;
    size_t n, cap;
    unsigned long long loads;
} listing;

/* How many libraries have been loaded so far; 0: the loader does not say. */
static unsigned long long loads_of(const struct dl_phdr_info *object, size_t bytes)
{
    const size_t needed = offsetof(struct dl_phdr_info, dlpi_adds) + sizeof object->dlpi_adds;
    return bytes >= needed ? object->dlpi_adds : 0;
}

/* Of each library its code. The first one is the program, without a name. */
static int add_module(struct dl_phdr_info *object, size_t bytes, void *ud)
{
    listing *list = ud;
    char path[PATH_BYTES] = "";
    const uintptr_t self = (uintptr_t)native_stack;
    const bool is_main = list->n == 0 && (!object->dlpi_name || !object->dlpi_name[0]);
    list->loads = loads_of(object, bytes);
    if (is_main) {
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
    } else if (object->dlpi_name)
        strncpy(path, object->dlpi_name, sizeof path - 1);
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t from = object->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        if (!SL__GROW(list->all, list->cap, list->n + 1)) return 1;
        list->all[list->n++] = (module){ from, from + part->p_memsz, object->dlpi_addr,
                                         is_main || is_programs(path), strdup(path) };
        if (self >= from && self < from + part->p_memsz)
            list->all[list->n - 1].is_own = false; /* the recorder */
    }
    return 0;
}

SL__ORDER(by_address, module, x->from);

/* The loader's lock is not taken under ours: who holds it may call CUDA, and come here. */
static void list_modules(void)
{
    listing list = { 0 };
    dl_iterate_phdr(add_module, &list);
    if (list.n > 1) qsort(list.all, list.n, sizeof *list.all, by_address);
    pthread_mutex_lock(&stack.lock);
    for (size_t i = 0; i < list.n; i++) {
        char *path = (char *)(uintptr_t)list.all[i].path;
        list.all[i].path = path ? keep_path(path) : "";
        free(path);
    }
    module *before = stack.modules;
    stack.modules = list.all;
    stack.n = list.n;
    stack.loads = list.loads;
    pthread_mutex_unlock(&stack.lock);
    free(before);
}

static int take_loads(struct dl_phdr_info *object, size_t bytes, void *ud)
{
    *(unsigned long long *)ud = loads_of(object, bytes);
    return 1;
}

/* Code that a program makes as it runs is in no module, however often they are listed. */
static bool has_new_modules(void)
{
    unsigned long long loads = 0;
    dl_iterate_phdr(take_loads, &loads);
    pthread_mutex_lock(&stack.lock);
    const bool are_new = loads == 0 || loads != stack.loads;
    pthread_mutex_unlock(&stack.lock);
    return are_new;
}

static bool find_module(uintptr_t address, module *found)
{
    size_t at;
    pthread_mutex_lock(&stack.lock);
    SL__SEARCH(at, stack.n, stack.modules[at].from <= address);
    const bool is_there = at > 0 && address < stack.modules[at - 1].to;
    if (is_there) *found = stack.modules[at - 1];
    pthread_mutex_unlock(&stack.lock);
    return is_there;
}

/* ---- frames ---- */

typedef struct walk {
    uintptr_t kernel; /* 0: none, or its frame has been passed */
    native_frame *frames;
    size_t n, most;
    int left;
    bool asked; /* for new modules */
} walk;

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *ud)
{
    walk *w = ud;
    module in;
    const uintptr_t address = stack.address_of(context);
    if (address == 0 || w->left-- == 0) return _URC_END_OF_STACK;
    bool found = find_module(address - 1, &in);
    if (!found && !w->asked) {
        w->asked = true;
        if (has_new_modules()) list_modules();
        found = find_module(address - 1, &in);
    }
    if (w->kernel && stack.function_of(context) == w->kernel) {
        w->n = 0;
        w->kernel = 0;
        w->most = 1; /* its caller is the program's */
    } else if (found && in.is_own && w->n < w->most)
        w->frames[w->n++] = (native_frame){ in.path, address - 1 - in.base };
    return w->n == w->most && !w->kernel ? _URC_END_OF_STACK : _URC_NO_REASON;
}

size_t native_stack(const void *kernel, size_t most, native_frame frames[NATIVE_FRAMES])
{
    walk w = { .kernel = (uintptr_t)kernel, .frames = frames, .most = most, .left = WALKED_MOST };
    stack.backtrace(take_frame, &w);
    return w.n;
}

/* ISO C has no cast from an object pointer to a function pointer. */
static bool take(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool native_stack_begin(void)
{
    void *unwinder = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!unwinder || !take(unwinder, "_Unwind_Backtrace", &stack.backtrace)
        || !take(unwinder, "_Unwind_GetIP", &stack.address_of)
        || !take(unwinder, "_Unwind_GetRegionStart", &stack.function_of))
        return false;
    list_modules();
    return true;
}
