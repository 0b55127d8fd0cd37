/* places.c - names places in a launch for its reports. */
#include "places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

enum { NEAR = 512 }; /* so far away from a variable an address is said to be beyond its end */

static const emu_run *run;
static emu_symbols symbols; /* of the kernel */

void emu_places_open(const emu_run *the_run)
{
    run = the_run;
    free(symbols.all);
    emu_symbols_read(&run->image->object, run->image->base, &symbols);
}

static size_t element_bytes(const sl_arg *arg)
{
    static const uint8_t bytes[] = {
#define X(id, name, type, size) size,
        SL_ARG_TYPES(X)
#undef X
    };
    return bytes[arg->type];
}

static size_t distance(const char *address, const char *data, size_t bytes)
{
    if (address < data) return (size_t)(data - address);
    return address < data + bytes ? 0 : (size_t)(address - data) - bytes + 1;
}

/* Arguments that overlap are in one area. */
int emu_place_argument(const void *address)
{
    const sl_custom *kernel = run->emulated->kernel;
    const emu_area *area = emu_memory_find(&run->memory, address);
    size_t nearest = SIZE_MAX;
    int found = -1;
    if (!area) return -1;
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        const sl_emulate_arg *arg = &run->args[i];
        if (!kernel->args[i].access || &run->memory.areas[arg->region] != area) continue;
        size_t away = distance(address, area->at.data + arg->offset, arg->bytes);
        if (away >= nearest) continue;
        nearest = away;
        found = (int)i;
    }
    return found;
}

/* ---- shared memory ---- */

/* The variable that is nearest; data NULL: none is near. The dynamic memory counts as one, of as
 * many bytes as the launch asked for. */
static emu_span shared_near(const char *address, size_t most)
{
    const emu_sections *sections = &run->image->sections;
    emu_span found = { NULL, 0 };
    for (uint32_t i = 0; i <= sections->n_shared; i++) {
        const emu_span dynamic = { sections->dynamic.data, run->call->shared_bytes };
        const emu_span span = i < sections->n_shared ? sections->shared[i] : dynamic;
        if (!span.data || distance(address, span.data, span.bytes) > most) continue;
        most = distance(address, span.data, span.bytes);
        found = span;
    }
    return found;
}

static bool is_dynamic(const char *address)
{
    const emu_span *dynamic = &run->image->sections.dynamic;
    return dynamic->data && (size_t)(address - dynamic->data) < dynamic->bytes;
}

bool emu_place_is_beyond(const char *address, size_t most)
{
    const emu_symbol *symbol = emu_symbols_find(&symbols, address);
    const emu_sections *sections = &run->image->sections;
    if (is_dynamic(address)) return true;
    for (uint32_t i = 0; symbol && i < sections->n_shared; i++)
        if (symbol->data == sections->shared[i].data) return true;
    if (symbol && strncmp(symbol->name, "emu_gap_", 8) != 0) return false;
    return shared_near(address, most).data != NULL;
}

static bool place_in_shared(const char *address, char text[EMU_PLACE_BYTES])
{
    const emu_span dynamic = { run->image->sections.dynamic.data, run->call->shared_bytes };
    const emu_span span = is_dynamic(address) ? dynamic : shared_near(address, NEAR);
    const emu_symbol *symbol = emu_symbols_find(&symbols, span.data);
    const long long at = address - span.data;
    const bool inside = at >= 0 && (size_t)at < span.bytes;
    char of[48] = "", name[80] = "shared memory";
    if (!span.data) return false;
    if (!inside) snprintf(of, sizeof of, " of %zu", span.bytes);
    if (span.data == dynamic.data)
        strcpy(name, "dynamic shared memory");
    else if (symbol)
        snprintf(name, sizeof name, "shared memory `%s`", symbol->name);
    snprintf(text, EMU_PLACE_BYTES, "%s, byte %lld%s", name, at, of);
    return true;
}

/* ---- all of it ---- */

void emu_place_of(const void *address, char text[EMU_PLACE_BYTES])
{
    const int i = emu_place_argument(address);
    if (i < 0 && place_in_shared(address, text)) return;
    if (i < 0) {
        snprintf(text, EMU_PLACE_BYTES, "address 0x%llx, which is in no argument",
                 (unsigned long long)(uintptr_t)address);
        return;
    }
    const sl_emulate_arg *arg = &run->args[i];
    const int64_t each = (int64_t)element_bytes(&run->emulated->kernel->args[i]);
    const int64_t at = (const char *)address
                       - (run->memory.areas[arg->region].at.data + arg->offset);
    const int64_t element = (at < 0 ? at - each + 1 : at) / each;
    if (at >= 0 && at < (int64_t)arg->bytes)
        snprintf(text, EMU_PLACE_BYTES, "argument %d, element %lld", i + 1, (long long)element);
    else
        snprintf(text, EMU_PLACE_BYTES, "argument %d, element %lld of %lld", i + 1,
                 (long long)element, (long long)((int64_t)arg->bytes / each));
}

bool emu_place_may_write(const void *address, size_t bytes)
{
    const sl_custom *kernel = run->emulated->kernel;
    const char *at = address;
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        const sl_emulate_arg *arg = &run->args[i];
        if (!(kernel->args[i].access & SL_WRITES)) continue;
        const char *data = run->memory.areas[arg->region].at.data + arg->offset;
        if (at >= data && at + bytes <= data + arg->bytes) return true;
    }
    return false;
}

static void place(uint64_t number, const uint32_t size[3], unsigned at[3])
{
    at[0] = (unsigned)(number % size[0]);
    at[1] = (unsigned)(number / size[0] % size[1]);
    at[2] = (unsigned)(number / size[0] / size[1]);
}

void emu_place_thread(uint32_t number, unsigned at[3]) { place(number, run->call->block, at); }
void emu_place_block(uint64_t number, unsigned at[3]) { place(number, run->call->grid, at); }
