/* remote.c - asks the process that compiles and runs kernels, through a socket that is open
 * already: the process that asks can open none. */
#include "remote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../custom/source_check.h"
#include "wire.h"

enum { NONE = -1, GONE = -2 };

static int server = NONE;

bool emu_is_remote(void) { return server != NONE; }

/* After a message that was sent or read in part nothing can follow. */
static sl_status lose(const volatile sig_atomic_t *interrupted, sl_error *err)
{
    if (server >= 0) close(server);
    server = GONE;
    if (*interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
    return sl_fail(err, SL_EIO, "the process that runs kernels has ended");
}

/* Sends the question, which it frees. The caller frees the answer. */
static sl_status ask(emu_message *question, emu_message *answer,
                     const volatile sig_atomic_t *interrupted, sl_error *err)
{
    bool failed = question->failed, done;
    *answer = (emu_message){ 0 };
    done = server >= 0 && !failed && emu_send(server, question, interrupted)
           && emu_receive(server, answer, interrupted);
    emu_message_free(question);
    if (failed)
        return sl_fail(err, SL_ENOMEM,
                       "more than %zu MiB, or than there is, for a kernel's tensors",
                       EMU_MOST_BYTES >> 20);
    if (!done) return lose(interrupted, err);
    if (answer->kind == EMU_TIME_IS_UP) {
        emu_message_free(answer);
        kill(getpid(), SIGXCPU); /* as if this process had used it */
        return sl_fail(err, SL_EINTERRUPT, "the processor time is used up");
    }
    return SL_OK;
}

sl_status sl_custom_use_server(int fd, sl_error *err)
{
    static const volatile sig_atomic_t never;
    emu_message question = { .kind = EMU_HELLO }, answer;
    server = fd;
    signal(SIGPIPE, SIG_IGN); /* writing to a server that has ended fails, and that is enough */
    sl_status status = ask(&question, &answer, &never, err);
    if (status == SL_OK) status = emu_get_error(&answer, err);
    emu_message_free(&answer);
    return status;
}

/* ---- a kernel ---- */

static void put_kernel(emu_message *m, const sl_custom *kernel)
{
    emu_put(m, &kernel->device->info, sizeof kernel->device->info);
    emu_put_text(m, kernel->source);
    emu_put_text(m, kernel->name);
    emu_put_text(m, kernel->file);
    emu_put_number(m, (uint64_t)kernel->line);
    emu_put_number(m, kernel->n_args);
    for (uint32_t i = 0; i < kernel->n_args; i++)
        emu_put_number(m, (uint64_t)kernel->args[i].type << 8
                              | (kernel->args[i].access & (SL_READS | SL_WRITES)));
    emu_put_number(m, kernel->n_options);
    for (size_t i = 0; i < kernel->n_options; i++)
        emu_put_text(m, kernel->options[i]);
}

/* The compiler's messages; or one like them where it was not the compiler that refused. */
static void take_log(sl_custom *kernel, emu_message *answer, const sl_error *err)
{
    const char *log = emu_get_text(answer);
    size_t bytes = sizeof err->msg + 64;
    free(kernel->log);
    kernel->log = log ? strdup(log) : malloc(bytes);
    if (!log && kernel->log)
        snprintf(kernel->log, bytes, "%s:%d:1: error: %s\n", SL_SOURCE_FILE, kernel->line,
                 err->msg);
}

sl_status emu_remote_build(sl_custom *kernel, sl_image *image, sl_error *err)
{
    emu_message question = { .kind = EMU_BUILD }, answer;
    put_kernel(&question, kernel);
    sl_status status = ask(&question, &answer, kernel->device->interrupted, err);
    if (status != SL_OK) return status;
    status = emu_get_error(&answer, err);
    if (status == SL_ECOMPILE) take_log(kernel, &answer, err);
    if (status == SL_OK) {
        emu_remote_image made = { .number = emu_get_number(&answer, UINT64_MAX) };
        made.shared_bytes = (int64_t)emu_get_number(&answer, INT32_MAX) - 1;
        image->data = malloc(sizeof made);
        image->bytes = sizeof made;
        if (image->data)
            memcpy(image->data, &made, sizeof made);
        else
            status = sl__no_memory(err, "a kernel");
    }
    emu_message_free(&answer);
    return status;
}

void emu_remote_close(uint64_t number)
{
    static const volatile sig_atomic_t never;
    emu_message question = { .kind = EMU_CLOSE }, answer;
    sl_error err;
    if (server < 0) return;
    emu_put_number(&question, number);
    ask(&question, &answer, &never, &err);
    emu_message_free(&answer);
}

/* ---- a launch ---- */

static void put_call(emu_message *m, const sl_custom *kernel, const sl_custom_call *call)
{
    emu_put(m, call->grid, sizeof call->grid);
    emu_put(m, call->block, sizeof call->block);
    emu_put_number(m, call->shared_bytes);
    emu_put_number(m, call->cooperative);
    for (uint32_t i = 0; i < kernel->n_args; i++)
        emu_put_number(m, kernel->args[i].access ? 0 : call->arg[i].bits);
}

static void put_arguments(emu_message *m, const sl_custom *kernel, const sl_emulate_arg *args)
{
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        if (!kernel->args[i].access) continue;
        emu_put_number(m, args[i].region);
        emu_put_number(m, args[i].offset);
        emu_put_number(m, args[i].bytes);
    }
}

static bool is_written(const sl_custom *kernel, const sl_emulate_arg *args, uint32_t region)
{
    for (uint32_t i = 0; i < kernel->n_args; i++)
        if ((kernel->args[i].access & SL_WRITES) && args[i].region == region) return true;
    return false;
}

static sl_status take_regions(emu_message *answer, const sl_custom *kernel,
                              const sl_emulate_region *regions, uint32_t n,
                              const sl_emulate_arg *args, sl_error *err)
{
    const size_t start = answer->at;
    for (int copies = 0; copies < 2; copies++) { /* nothing is changed unless all of it is there */
        answer->at = start;
        for (uint32_t i = 0; i < n; i++) {
            if (!is_written(kernel, args, i)) continue;
            const void *data = emu_get(answer, regions[i].bytes);
            if (!data)
                return sl_fail(err, SL_EIO, "the process that runs kernels answered nonsense");
            if (copies && regions[i].bytes) memcpy(regions[i].data, data, regions[i].bytes);
        }
    }
    return SL_OK;
}

sl_status emu_remote_run(const sl_custom *kernel, uint64_t number, const sl_custom_call *call,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err)
{
    emu_message question = { .kind = EMU_RUN }, answer;
    emu_put_number(&question, number);
    put_call(&question, kernel, call);
    put_arguments(&question, kernel, args);
    emu_put_number(&question, n_regions);
    for (uint32_t i = 0; i < n_regions; i++) {
        emu_put_number(&question, regions[i].bytes);
        emu_put(&question, regions[i].data, regions[i].bytes);
    }
    sl_status status = ask(&question, &answer, kernel->device->interrupted, err);
    if (status != SL_OK) return status;
    status = emu_get_error(&answer, err);
    if (status == SL_OK) status = take_regions(&answer, kernel, regions, n_regions, args, err);
    emu_message_free(&answer);
    return status;
}
