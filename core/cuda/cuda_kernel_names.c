/* cuda_kernel_names.c - names of kernels, demangled once each. CUPTI names a kernel by the
 * same pointer in all its records, so that a table by pointer finds it; the text is
 * compared all the same, since another name may lie there after a module was unloaded.
 * The demangler is that of the C++ library, which CUDA programs often have
 * loaded; the plugin does not link it for this. */
#include "cuda_kernel_names.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../table.h"

typedef struct kernel_name {
    sl__entry entry;      /* by CUPTI's pointer */
    char *symbol, *shown; /* copies; `shown` may be `symbol` */
} kernel_name;

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *length, int *status);

static struct {
    sl__table table;
    _Atomic(demangle_fn) demangle; /* NULL: there is none */
    atomic_bool looked_for;        /* the demangler */
} names;

/* ---- one name ---- */

static demangle_fn find_demangler(void)
{
    static const char *const homes[] = { NULL, "libstdc++.so.6" }; /* NULL: loaded already */
    void *symbol = NULL;
    demangle_fn demangle = NULL;
    for (size_t i = 0; i < sizeof homes / sizeof *homes && !symbol; i++) {
        void *handle = dlopen(homes[i], RTLD_LAZY | RTLD_LOCAL);
        symbol = handle ? dlsym(handle, "__cxa_demangle") : NULL;
    }
    memcpy(&demangle, &symbol, sizeof demangle);
    return demangle;
}

/* Where the parameters begin: the first parenthesis that is neither among template
 * arguments nor that of "(anonymous namespace)". */
static size_t length_without_parameters(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    int depth = 0;
    size_t at = 0;
    for (; name[at]; at++) {
        if (name[at] == '<')
            depth++;
        else if (name[at] == '>' && depth > 0)
            depth--;
        else if (name[at] == '(' && depth == 0) {
            if (strncmp(name + at, anonymous, sizeof anonymous - 1) != 0) break;
            at += sizeof anonymous - 2;
        }
    }
    return at;
}

/* In place. Kernels return void, and only templates say so in their names. */
static void shorten(char *name)
{
    static const char result[] = "void ";
    size_t skip = strncmp(name, result, sizeof result - 1) == 0 ? sizeof result - 1 : 0;
    size_t length = length_without_parameters(name + skip);
    if (length == 0) return;
    memmove(name, name + skip, length);
    name[length] = '\0';
}

/* No thread waits here for another one: either may hold the loader's lock. */
void cuda_kernel_names_prepare(void)
{
    if (names.looked_for) return;
    names.demangle = find_demangler();
    names.looked_for = true;
}

/* NULL if it cannot be demangled. */
static char *demangled(const char *symbol)
{
    int status = -1;
    if (strncmp(symbol, "_Z", 2) != 0) return NULL;
    cuda_kernel_names_prepare();
    const demangle_fn demangle = names.demangle;
    char *name = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
    if (name) shorten(name);
    return name;
}

/* ---- the table ---- */

static void forget(sl__entry *entry, void *ud)
{
    kernel_name *name = (kernel_name *)entry;
    (void)ud;
    if (name->shown != name->symbol) free(name->shown);
    free(name->symbol);
    free(name);
}

/* NULL: no memory. */
static const char *add(const char *symbol, uint64_t key)
{
    kernel_name *name = calloc(1, sizeof *name);
    if (!name) return NULL;
    name->symbol = strdup(symbol);
    if (name->symbol && !(name->shown = demangled(symbol))) name->shown = name->symbol;
    if (name->symbol && sl__table_add(&names.table, &name->entry, key)) return name->shown;
    forget(&name->entry, NULL);
    return NULL;
}

const char *cuda_kernel_name(const char *symbol)
{
    const uint64_t key = sl__table_key(symbol, 0, 0);
    for (sl__entry *at = sl__table_find(&names.table, key); at; at = sl__table_next(at)) {
        const kernel_name *name = (const kernel_name *)at;
        if (strcmp(name->symbol, symbol) == 0) return name->shown;
    }
    const char *shown = add(symbol, key);
    return shown ? shown : symbol;
}

void cuda_kernel_names_clear(void) { sl__table_clear(&names.table, forget, NULL); }
