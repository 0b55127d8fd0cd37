/* checks.c - what an access of a kernel is to: a tensor, shared memory, or nothing that it has. */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "checks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef __ELF__
#include <link.h>
#endif

#include "fences.h"
#include "places.h"
#include "thread_races.h"
#include "report.h"
#include "block_threads.h"
#include "unit.h"

enum { NEAR = 512 }; /* bytes around a variable that are taken for beyond its end */

typedef struct checked { /* a tensor, or a variable in shared memory */
    const char *data;
    size_t bytes;
    emu_cell *cells; /* NULL: races are not looked for */
    bool is_read_only, is_partly_written;
} checked;

static struct {
    const emu_run *run; /* NULL: no launch is checked */
    checked tensors[SL_MOST_ARGS], shared[EMU_MOST_SHARED + 1];
    uint32_t n_tensors, n_shared;
    checked *tensor, *variable; /* the last ones */
    const char *image;          /* the kernel's code and variables */
    size_t image_bytes;
} state;

/* ---- reports ---- */

/* "thread (5,0,0) of block (3,0,0)" */
static void thread_text(char text[112])
{
    unsigned at[3], in[3];
    emu_current_place(at, in);
    snprintf(text, 112, "thread (%u,%u,%u) of block (%u,%u,%u)", at[0], at[1], at[2], in[0], in[1],
             in[2]);
}

static const char *does(int kind)
{
    if (kind & EMU_ATOMIC) return "has an atomic on";
    return kind & EMU_WRITE ? "writes" : "reads";
}

static _Noreturn void fail(const char *address, int kind, const void *pc, const char *but)
{
    char thread[112], place[EMU_PLACE_BYTES];
    thread_text(thread);
    emu_place_of(address, place);
    emu_fail_at((const char *)pc - 1, NULL, "%s %s %s%s", thread, does(kind), place, but);
}

/* ---- tensors ---- */

static bool has(const checked *one, const char *address)
{
    return (size_t)(address - one->data) < one->bytes;
}

static checked *find(checked *all, uint32_t n, checked *last, const char *address)
{
    if (last && has(last, address)) return last;
    for (uint32_t i = 0; i < n; i++)
        if (has(&all[i], address)) return &all[i];
    return NULL;
}

static void check_size(const emu_access_of *access)
{
    const size_t alignment = access->bytes < 8 ? access->bytes : 8; /* as compilers see it */
    char but[64];
    if ((access->kind & EMU_PACKED) || ((uintptr_t)access->address & (alignment - 1)) == 0) return;
    snprintf(but, sizeof but, ", at an address that is no multiple of %zu", alignment);
    fail(access->address, access->kind, access->pc, but);
}

static void check_known(checked *one, const emu_access_of *access)
{
    const size_t offset = (size_t)(access->address - one->data);
    if (access->bytes > one->bytes - offset)
        fail(one->data + one->bytes, access->kind, access->pc, "");
    if (access->kind & EMU_WRITE) {
        if (one->is_read_only
            || (one->is_partly_written && !emu_place_may_write(access->address, access->bytes)))
            fail(access->address, access->kind, access->pc, ", but it is declared as \"in\"");
    }
    check_size(access);
    if (one->cells) emu_races_touch(one->cells, offset, access);
}

/* ---- the image's variables ---- */

/* A variable that is neither shared nor constant: threadIdx and its like can be read, what is
 * behind them not even that. */
static void check_own(const emu_access_of *access)
{
    const emu_span own = state.run->image->sections.state;
    char thread[112];
    if (!(access->kind & EMU_WRITE) && (size_t)(access->address - own.data) >= own.bytes) return;
    thread_text(thread);
    emu_fail_at((const char *)access->pc - 1, NULL, "%s %s a variable that is not the kernel's",
                thread, does(access->kind));
}

/* Something else lies there, or is it one of shared memory that was left? */
static void check_image(const emu_access_of *access)
{
    if (emu_place_is_beyond(access->address, NEAR))
        fail(access->address, access->kind, access->pc, "");
    check_own(access);
}

void emu_check_access(const void *address, size_t bytes, int kind, const void *pc)
{
    emu_access_of access = { address, bytes, kind, pc, false };
    checked *one;
    if (!state.run || bytes == 0) return;
    emu_races_settle();
    if ((one = find(state.tensors, state.n_tensors, state.tensor, address))) {
        state.tensor = one;
        check_known(one, &access);
    } else if ((one = find(state.shared, state.n_shared, state.variable, address))) {
        state.variable = one;
        access.shared = true;
        check_known(one, &access);
    } else if ((size_t)(access.address - state.image) < state.image_bytes) {
        check_image(&access);
    } else {
        fail(address, kind, pc, "");
    }
}

void emu_check_fence(void)
{
    if (state.run) emu_races_fence();
}

/* Memory of a kernel is aligned at least as the GPU's, but a tensor may lie elsewhere here. */
static bool is_aligned_there(const char *address, size_t alignment)
{
    const checked *one = find(state.tensors, state.n_tensors, NULL, address);
    if (!one) one = find(state.shared, state.n_shared, NULL, address);
    return one && (size_t)(address - one->data) % alignment == 0;
}

void emu_check_alignment(const void *address, size_t alignment, const char *file, unsigned line)
{
    char thread[112], place[EMU_PLACE_BYTES];
    if (!state.run || is_aligned_there(address, alignment)) return;
    const sl_custom *kernel = state.run->emulated->kernel;
    if (emu_place_argument(address) < 0 && !find(state.shared, state.n_shared, NULL, address))
        return; /* whatever is wrong with it, the access itself will say it */
    thread_text(thread);
    emu_place_of(address, place);
    emu_fail(file && strcmp(file, emu_unit_file(kernel)) == 0 ? (int)line : 0,
             "%s uses %s as a type whose address must be a multiple of %zu", thread, place,
             alignment);
}

/* ---- events ---- */

void emu_checks_block(uint64_t index)
{
    if (state.run) emu_races_block(index);
}
void emu_checks_barrier(void)
{
    if (state.run) emu_races_barrier();
}
void emu_checks_warp(unsigned warp, uint32_t lanes)
{
    if (state.run) emu_races_warp(warp, lanes);
}
void emu_checks_grid(void)
{
    if (state.run) emu_races_grid();
}
void emu_checks_end(void) { emu_checks_grid(); }

/* ---- beginning ---- */

#ifdef __ELF__
static int find_end(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    if ((const char *)info->dlpi_addr != base) return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const size_t end = (size_t)(info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > state.image_bytes)
            state.image_bytes = end;
    }
    return 1;
}
#endif

static void find_image(const emu_run *run)
{
    Dl_info info;
    state.image_bytes = 0;
    if (!dladdr(*(void *const *)&run->image->get_entry, &info)) return;
    state.image = info.dli_fbase;
#ifdef __ELF__
    dl_iterate_phdr(find_end, info.dli_fbase);
#endif
}

static void add_shared(const char *data, size_t bytes, bool races)
{
    if (!data || !bytes) return;
    state.shared[state.n_shared++] = (checked){ .data = data,
                                                .bytes = bytes,
                                                .cells = races ? emu_cells_new(bytes) : NULL };
}

/* The memory of an untrusted kernel has a limit, and its threads' stacks need some of it. */
static bool is_affordable(size_t bytes)
{
    enum { MOST_FENCED = 16 << 20 };
    static size_t total;
    total += bytes;
    return !emu_fences() || total <= MOST_FENCED;
}

static void add_tensor(checked *one, const emu_area *area, bool races)
{

    *one = (checked){ .data = area->at.data,
                      .bytes = area->at.bytes,
                      .is_read_only = !area->written };
    if (!area->written || !area->at.bytes) return;
    one->is_partly_written = !emu_place_may_write(area->at.data, area->at.bytes);
    if (races && is_affordable(area->at.bytes)) one->cells = emu_cells_new(area->at.bytes);
}

/* The area that follows this one (NULL: the first), from the smallest on: where not all are
 * affordable, a large one that is not used does not take the place of one that is. */
static const emu_area *next_area(const emu_memory *memory, const emu_area *before)
{
    const emu_area *found = NULL;
    for (const emu_area *one = memory->areas; one < memory->areas + memory->n; one++) {
        if (before
            && (one->at.bytes < before->at.bytes
                || (one->at.bytes == before->at.bytes && one <= before)))
            continue;
        if (!found || one->at.bytes < found->at.bytes) found = one;
    }
    return found;
}

static void add_tensors(const emu_memory *memory, bool races)
{
    const emu_area *area = NULL;
    while (state.n_tensors < SL_MOST_ARGS && (area = next_area(memory, area)))
        add_tensor(&state.tensors[state.n_tensors++], area, races);
}

void emu_checks_begin(const emu_run *run)
{
    const emu_sections *sections = &run->image->sections;
    find_image(run);
    bool races = emu_races_begin(run, state.image, state.image_bytes);
    if (!races && emu_fences())
        emu_fail(0,
                 "a launch of so many threads is not checked here: at most %d, or fewer where "
                 "memory is short",
                 (int)EMU_MOST_RACING);
    add_tensors(&run->memory, races);
    for (uint32_t i = 0; i < sections->n_shared; i++)
        add_shared(sections->shared[i].data, sections->shared[i].bytes, races);
    add_shared(sections->dynamic.data, run->call->shared_bytes, races);
    state.run = run;
}
