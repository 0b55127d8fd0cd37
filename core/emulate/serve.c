/* serve.c - the process that compiles and runs untrusted kernels. It has nothing of value
 * in memory, and its folder and limits are its own; see docs/design/labs.md.
 *
 * One kernel at a time is compiled or run, each in processes behind a fence. What comes through the
 * socket is checked as if it were hostile, though only this program's own code writes it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../custom/source_check.h"
#include "emulate.h"
#include "fences.h"
#include "wire.h"

enum { MOST_KERNELS = 256, MOST_NAME = 256, MOST_REGIONS = SL_MOST_ARGS };

typedef struct served {
    sl_custom kernel;
    const char *texts[SL_MOST_OPTIONS]; /* kernel.options */
    sl_device device;
    emu_message message; /* has the texts */
    sl_emulated *emulated;
} served;

typedef struct service {
    int fd;
    served *kernels[MOST_KERNELS];
} service;

static const volatile sig_atomic_t never;

static void end_kernel(served *s)
{
    if (!s) return;
    sl_emulate_close(s->emulated);
    free(s->kernel.log);
    emu_message_free(&s->message);
    free(s);
}

/* ---- a kernel ---- */

static void get_args(emu_message *m, sl_custom *kernel)
{
    kernel->n_args = (uint32_t)emu_get_number(m, SL_MOST_ARGS);
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        uint64_t arg = emu_get_number(m, 0xffff);
        kernel->args[i] = (sl_arg){ (uint8_t)(arg >> 8), (uint8_t)(arg & 0xff) };
        if (kernel->args[i].type >= SL_ARG_TYPE_COUNT
            || kernel->args[i].access > (SL_READS | SL_WRITES))
            m->failed = true;
    }
}

static void get_device(emu_message *m, served *s)
{
    const void *info = emu_get(m, sizeof s->device.info);
    if (info) memcpy(&s->device.info, info, sizeof s->device.info);
    s->device.info.backend = "sim"; /* a pointer of another process */
    s->device.interrupted = &never;
    s->kernel.device = &s->device;
}

static bool is_name(const char *text) { return text && strlen(text) < MOST_NAME; }

/* The texts stay in the message. False: it is no kernel. */
static bool get_kernel(served *s)
{
    emu_message *m = &s->message;
    sl_custom *kernel = &s->kernel;
    get_device(m, s);
    kernel->source = (char *)emu_get_text(m);
    kernel->name = (char *)emu_get_text(m);
    kernel->file = (char *)emu_get_text(m);
    kernel->line = (int)emu_get_number(m, 1 << 24);
    get_args(m, kernel);
    kernel->n_options = (size_t)emu_get_number(m, SL_MOST_OPTIONS);
    kernel->options = (char **)s->texts;
    for (size_t i = 0; i < kernel->n_options; i++)
        if (!(s->texts[i] = emu_get_text(m))) m->failed = true;
    return !m->failed && kernel->source && is_name(kernel->name) && is_name(kernel->file);
}

static sl_status check_kernel(const sl_custom *kernel, sl_error *err)
{
    int line;
    sl_status status = sl_source_check(kernel->source, &line, err);
    if (status == SL_OK)
        status = sl_source_check_options((const char *const *)kernel->options, kernel->n_options,
                                         err);
    return status == SL_OK ? sl_source_check_name(kernel->name, err) : status;
}

static sl_status build(served *s, sl_error *err)
{
    sl_image image = { NULL, 0 };
    sl_status status = check_kernel(&s->kernel, err);
    if (status == SL_OK) status = sl_emulate_build(&s->kernel, &image, err);
    if (status == SL_OK) status = sl_emulate_open(&s->kernel, &image, &s->emulated, err);
    free(image.data);
    return status;
}

static served **free_place(service *all, uint64_t *number)
{
    for (*number = 0; *number < MOST_KERNELS; ++*number)
        if (!all->kernels[*number]) return &all->kernels[*number];
    return NULL;
}

/* The kernel keeps the message. */
static void serve_build(service *all, emu_message *m, emu_message *answer)
{
    sl_error err = { .status = SL_OK };
    uint64_t number;
    served **place = free_place(all, &number), *s = place ? calloc(1, sizeof *s) : NULL;
    sl_status status;
    if (!s) {
        status = sl_fail(&err, SL_ENOMEM, "%d kernels at a time, no more", (int)MOST_KERNELS);
        emu_put_error(answer, status, &err);
        return;
    }
    s->message = *m;
    *m = (emu_message){ 0 };
    status = get_kernel(s) ? build(s, &err) : sl_fail(&err, SL_EINVAL, "this is no kernel");
    emu_put_error(answer, status, &err);
    if (status == SL_ECOMPILE) emu_put_text(answer, s->kernel.log);
    if (status != SL_OK) {
        end_kernel(s);
        return;
    }
    emu_put_number(answer, number);
    emu_put_number(answer,
                   (uint64_t)(sl_emulate_shared_bytes(s->emulated) + 1)); /* -1: not known */
    *place = s;
}

static served **find(service *all, emu_message *m)
{
    uint64_t number = emu_get_number(m, MOST_KERNELS - 1);
    return m->failed || !all->kernels[number] ? NULL : &all->kernels[number];
}

/* ---- a launch ---- */

typedef struct launch {
    sl_custom_call *call;
    sl_emulate_arg args[SL_MOST_ARGS];
    sl_emulate_region regions[MOST_REGIONS];
    uint32_t n_regions;
} launch;

static void get_call(emu_message *m, const sl_custom *kernel, launch *l)
{
    sl_custom_call *call = l->call;
    const void *grid = emu_get(m, sizeof call->grid), *block = emu_get(m, sizeof call->block);
    uint64_t threads = 1;
    if (grid) memcpy(call->grid, grid, sizeof call->grid);
    if (block) memcpy(call->block, block, sizeof call->block);
    call->shared_bytes = (size_t)emu_get_number(m, 1 << 20);
    call->cooperative = emu_get_number(m, 1) != 0;
    call->kernel = (sl_custom *)kernel;
    call->n = kernel->n_args;
    for (uint32_t i = 0; i < kernel->n_args; i++)
        call->arg[i].bits = emu_get_number(m, UINT64_MAX);
    for (int i = 0; i < 3; i++) {
        if (call->grid[i] == 0 || call->block[i] == 0 || call->block[i] > 1024) m->failed = true;
        threads *= call->block[i];
    }
    if (threads == 0 || threads > 1024) m->failed = true;
}

static void get_regions(emu_message *m, const sl_custom *kernel, launch *l)
{
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        if (!kernel->args[i].access) continue;
        l->args[i].region = (uint32_t)emu_get_number(m, MOST_REGIONS - 1);
        l->args[i].offset = (size_t)emu_get_number(m, EMU_MOST_BYTES);
        l->args[i].bytes = (size_t)emu_get_number(m, EMU_MOST_BYTES);
    }
    l->n_regions = (uint32_t)emu_get_number(m, MOST_REGIONS);
    for (uint32_t i = 0; i < l->n_regions; i++) {
        l->regions[i].bytes = (size_t)emu_get_number(m, EMU_MOST_BYTES);
        l->regions[i].data = emu_get(m, l->regions[i].bytes);
    }
    for (uint32_t i = 0; i < kernel->n_args && !m->failed; i++) {
        const sl_emulate_arg *arg = &l->args[i];
        if (!kernel->args[i].access) continue;
        if (arg->region >= l->n_regions || arg->offset > l->regions[arg->region].bytes
            || arg->bytes > l->regions[arg->region].bytes - arg->offset)
            m->failed = true;
    }
}

static void put_written(emu_message *answer, const sl_custom *kernel, const launch *l)
{
    for (uint32_t region = 0; region < l->n_regions; region++) {
        bool written = false;
        for (uint32_t i = 0; i < kernel->n_args; i++)
            written = written
                      || ((kernel->args[i].access & SL_WRITES) && l->args[i].region == region);
        if (written) emu_put(answer, l->regions[region].data, l->regions[region].bytes);
    }
}

static void serve_run(service *all, emu_message *m, emu_message *answer)
{
    sl_error err = { .status = SL_OK };
    served **place = find(all, m);
    launch l = { .n_regions = 0 };
    sl_status status;
    l.call = calloc(1, sizeof *l.call + SL_MOST_ARGS * sizeof l.call->arg[0]);
    if (place && l.call) get_call(m, &(*place)->kernel, &l);
    if (place && l.call) get_regions(m, &(*place)->kernel, &l);
    if (!place || m->failed)
        status = sl_fail(&err, SL_EINVAL, "this is no launch of a kernel");
    else if (!l.call)
        status = sl__no_memory(&err, "a launch");
    else
        status = sl_emulate_run((*place)->emulated, l.call, l.regions, l.n_regions, l.args, &err);
    emu_put_error(answer, status, &err);
    if (status == SL_OK) put_written(answer, &(*place)->kernel, &l);
    free(l.call);
}

static void serve_close(service *all, emu_message *m)
{
    served **place = find(all, m);
    if (!place) return;
    end_kernel(*place);
    *place = NULL;
}

/* ---- the loop ---- */

static void serve_hello(emu_message *answer)
{
    char key[512];
    sl_error err;
    emu_put_error(answer, sl_emulate_key(NULL, key, sizeof key, &err), &err);
}

static bool serve_one(service *all, emu_message *m)
{
    emu_message answer = { .kind = EMU_ANSWER };
    if (!emu_fences()->time_is_left())
        answer.kind = EMU_TIME_IS_UP;
    else if (m->kind == EMU_HELLO)
        serve_hello(&answer);
    else if (m->kind == EMU_BUILD)
        serve_build(all, m, &answer);
    else if (m->kind == EMU_RUN)
        serve_run(all, m, &answer);
    else if (m->kind == EMU_CLOSE)
        serve_close(all, m);
    if (!emu_fences()->time_is_left()) {
        emu_message_free(&answer);
        answer.kind = EMU_TIME_IS_UP;
    }
    bool sent = emu_send(all->fd, &answer, NULL);
    emu_message_free(&answer);
    return sent;
}

void sl_custom_serve(int fd, const sl_custom_fences *fences)
{
    service *all = calloc(1, sizeof *all);
    emu_message m;
    bool goes_on = all != NULL;
    if (!all) return;
    all->fd = fd;
    emu_set_fences(fences);
    while (goes_on && emu_receive(fd, &m, NULL)) {
        goes_on = serve_one(all, &m);
        emu_message_free(&m);
    }
    for (size_t i = 0; i < MOST_KERNELS; i++)
        end_kernel(all->kernels[i]);
    free(all);
}
