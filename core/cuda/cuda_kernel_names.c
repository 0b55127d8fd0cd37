/* cuda_kernel_names.c - names of kernels, demangled once each. CUPTI names a kernel by the
 * same pointer in all its records, so that a table by pointer finds it; the text is
 * compared all the same, since another name may lie there after a module was unloaded.
 * The demangler is that of the C++ library, which CUDA programs often have
 * loaded; the plugin does not link it for this. */
#include "cuda_activity.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 }; /* a power of 2 */

typedef struct kernel_name {
    const char *pointer;  /* CUPTI's; NULL: an empty slot */
    char *symbol, *shown; /* copies; `shown` may be `symbol` */
} kernel_name;

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *length, int *status);

static struct {
    kernel_name *slots; /* hashed, the next free slot after a clash */
    size_t n_slots, n;
    demangle_fn demangle; /* NULL: there is none */
    bool looked_for;      /* the demangler */
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

/* NULL if it cannot be demangled. */
static char *demangled(const char *symbol)
{
    int status = -1;
    if (strncmp(symbol, "_Z", 2) != 0) return NULL;
    if (!names.looked_for) names.demangle = find_demangler();
    names.looked_for = true;
    char *name = names.demangle ? names.demangle(symbol, NULL, NULL, &status) : NULL;
    if (name) shorten(name);
    return name;
}

/* ---- the table ---- */

/* That of the symbol, or the free one where it belongs. */
static kernel_name *slot_of(kernel_name *slots, size_t n_slots, const char *pointer,
                            const char *text)
{
    size_t at = (size_t)(((uint64_t)(uintptr_t)pointer * 0x9e3779b97f4a7c15u) >> 32);
    for (;; at++) {
        kernel_name *slot = &slots[at & (n_slots - 1)];
        if (!slot->pointer || (slot->pointer == pointer && strcmp(slot->symbol, text) == 0))
            return slot;
    }
}

/* The table stays at most half full. */
static bool has_room(void)
{
    size_t n_slots = names.n_slots ? 2 * names.n_slots : FIRST_SLOTS;
    if (2 * names.n < names.n_slots) return true;
    kernel_name *slots = calloc(n_slots, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < names.n_slots; i++) {
        const kernel_name *name = &names.slots[i];
        if (name->pointer) *slot_of(slots, n_slots, name->pointer, name->symbol) = *name;
    }
    free(names.slots);
    names.slots = slots;
    names.n_slots = n_slots;
    return true;
}

const char *cuda_kernel_name(const char *symbol)
{
    if (!has_room()) return symbol;
    kernel_name *slot = slot_of(names.slots, names.n_slots, symbol, symbol);
    if (slot->pointer) return slot->shown;
    char *copy = strdup(symbol), *shown = copy ? demangled(symbol) : NULL;
    if (!copy) return symbol;
    *slot = (kernel_name){ .pointer = symbol, .symbol = copy, .shown = shown ? shown : copy };
    names.n++;
    return slot->shown;
}

void cuda_kernel_names_clear(void)
{
    for (size_t i = 0; i < names.n_slots; i++) {
        kernel_name *name = &names.slots[i];
        if (name->shown != name->symbol) free(name->shown);
        free(name->symbol);
    }
    free(names.slots);
    names.slots = NULL;
    names.n_slots = names.n = 0;
}
