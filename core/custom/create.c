/* create.c - making a custom kernel: checked, then found in the cache or compiled. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "../base.h"
#include "../device.h"
#include "cache.h"
#include "custom_kernel.h"
#include "source_check.h"

/* ---- what it is made of ---- */

static bool copy_options(sl_custom *kernel, const sl_custom_spec *spec)
{
    kernel->options = calloc(spec->n_options + 1, sizeof *kernel->options);
    if (!kernel->options) return false;
    for (size_t i = 0; i < spec->n_options; i++, kernel->n_options++)
        if (!(kernel->options[i] = strdup(spec->options[i]))) return false;
    return true;
}

static bool copy_texts(sl_custom *kernel, const sl_custom_spec *spec)
{
    kernel->source = spec->source ? strdup(spec->source) : NULL;
    kernel->name = strdup(spec->name);
    kernel->file = strdup(spec->file ? spec->file : "");
    kernel->line = spec->line > 0 ? spec->line : 1;
    return (kernel->source || !spec->source) && kernel->name && kernel->file
           && copy_options(kernel, spec);
}

static sl_status parse_args(sl_custom *kernel, const sl_custom_spec *spec, sl_error *err)
{
    if (spec->n_args > SL_MOST_ARGS)
        return sl_fail(err, SL_EINVAL, "%zu arguments: a kernel has at most %d", spec->n_args,
                       SL_MOST_ARGS);
    for (size_t i = 0; i < spec->n_args; i++) {
        sl_status status = sl_arg_parse(spec->args[i], &kernel->args[i], err);
        if (status != SL_OK) return status;
    }
    kernel->n_args = (uint32_t)spec->n_args;
    return SL_OK;
}

/* A name, with a template's arguments: what can stand between & and ; in C++. */
static sl_status check_name(const char *name, sl_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
                                  "<>:,*& ";
    if (!name || !*name) return sl_fail(err, SL_EINVAL, "the kernel needs a name");
    if (name[strspn(name, allowed)] || strlen(name) > 200 || (*name >= '0' && *name <= '9'))
        return sl_fail(err, SL_EINVAL,
                       "\"%.60s\" is no name of a function (of a template: \"scale<float>\")",
                       name);
    return SL_OK;
}

/* ---- its key ---- */

typedef struct key_text {
    char *text;
    size_t n;
} key_text;

static void put(key_text *key, const char *text)
{
    size_t bytes = strlen(text) + 1; /* with its end, which separates the parts */
    if (key->text) memcpy(key->text + key->n, text, bytes);
    key->n += bytes;
}

static void put_parts(key_text *key, const sl_custom *kernel, const char *backend)
{
    char arg[8];
    put(key, backend);
    put(key, kernel->source ? kernel->source : "");
    put(key, kernel->name);
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        snprintf(arg, sizeof arg, "%u %u", kernel->args[i].type, kernel->args[i].access);
        put(key, arg);
    }
    for (size_t i = 0; i < kernel->n_options; i++)
        put(key, kernel->options[i]);
}

/* All that decides the image. `text` is NULL: out of memory. */
static key_text key_of(const sl_custom *kernel, const char *backend)
{
    key_text key = { NULL, 0 };
    put_parts(&key, kernel, backend);
    key.text = malloc(key.n);
    key.n = 0;
    put_parts(&key, kernel, backend);
    return key;
}

static sl_status make_hash(sl_custom *kernel, sl_error *err)
{
    key_text key = key_of(kernel, "");
    if (!key.text) return sl__no_memory(err, "a kernel");
    snprintf(kernel->hash, sizeof kernel->hash, "%016llx",
             (unsigned long long)sl__hash(SL__HASH_START, key.text, key.n));
    free(key.text);
    return SL_OK;
}

/* ---- compiling ---- */

static bool distrusted;

void sl_custom_distrust(void) { distrusted = true; }

/* `#include "` or `#include <`, with blanks anywhere: what is behind it. NULL: something else. */
static const char *included(const char *line)
{
    static const char blanks[] = " \t";
    line += strspn(line, blanks);
    if (*line++ != '#') return NULL;
    line += strspn(line, blanks);
    if (strncmp(line, "include", 7) != 0) return NULL;
    return line + 7 + strspn(line + 7, blanks);
}

/* Whether the image depends on files of the user's, which may change, or the kernel is
 * untrusted, of which nothing is kept: then no cache serves. */
static bool is_not_cached(const sl_custom *kernel)
{
    static const char *const options[] = { "-I", "--include-path", "-include", "--pre-include" };
    const char *line = kernel->source, *what;
    if (distrusted) return true;
    for (size_t i = 0; i < kernel->n_options; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            if (strncmp(kernel->options[i], options[k], strlen(options[k])) == 0) return true;
    while (line) {
        what = included(line);
        if (what && *what != '<') return true;
        line = strchr(line, '\n');
        if (line) line++;
    }
    return false;
}

static sl_status build_anew(sl_custom *kernel, const key_text *key, sl_error *err)
{
    const sl_backend *backend = kernel->device->backend;
    sl_image image = { NULL, 0 };
    sl_status status = backend->custom_build(kernel, &image, err);
    if (status == SL_ECOMPILE) return sl__diagnose(kernel, err);
    if (status != SL_OK) return status;
    status = backend->custom_open(kernel, &image, err);
    if (status == SL_OK && !is_not_cached(kernel))
        sl__cache_keep(SL_CACHE_KERNELS, key->text, key->n, &image);
    free(image.data);
    return status;
}

static sl_status find_or_build(sl_custom *kernel, const key_text *key, sl_error *err)
{
    sl_image image = { NULL, 0 };
    bool damaged;
    if (is_not_cached(kernel)
        || !sl__cache_find(SL_CACHE_KERNELS, key->text, key->n, &image, &damaged))
        return build_anew(kernel, key, err);
    sl_status status = kernel->device->backend->custom_open(kernel, &image, err);
    free(image.data);
    if (status == SL_EIO) return build_anew(kernel, key, err);
    kernel->info.from_cache = true;
    return status;
}

/* The message is made like a compiler's, so that it is explained like one. */
static sl_status check_stranger(sl_custom *kernel, sl_error *err)
{
    int line;
    sl_error why;
    sl_status status = sl_source_check(kernel->source, &line, &why);
    size_t bytes = sizeof why.msg + 64;
    if (status != SL_OK) {
        kernel->log = malloc(bytes);
        if (!kernel->log) return sl__no_memory(err, "a kernel");
        snprintf(kernel->log, bytes, "%s:%d:1: error: %s\n", SL_SOURCE_FILE,
                 kernel->line + line - 1, why.msg);
        return sl__diagnose(kernel, err);
    }
    status = sl_source_check_options((const char *const *)kernel->options, kernel->n_options, err);
    return status == SL_OK ? sl_source_check_name(kernel->name, err) : status;
}

static sl_status open_source(sl_custom *kernel, sl_error *err)
{
    char backend_key[512];
    sl_status status = distrusted ? check_stranger(kernel, err) : SL_OK;
    if (status == SL_OK)
        status = kernel->device->backend->custom_key(kernel, backend_key, sizeof backend_key, err);
    if (status != SL_OK) return status;
    key_text key = key_of(kernel, backend_key);
    if (!key.text) return sl__no_memory(err, "a kernel");
    status = find_or_build(kernel, &key, err);
    free(key.text);
    return status;
}

/* It will have times, and no values. */
static sl_status open_without_image(sl_custom *kernel, const char *why, sl_error *err)
{
    snprintf(kernel->unknown, sizeof kernel->unknown, "%s", kernel->compute ? "" : why);
    return kernel->device->backend->custom_open(kernel, NULL, err);
}

static sl_status open_kernel(sl_custom *kernel, sl_error *err)
{
    sl_error why = { .status = SL_OK };
    if (!kernel->source) {
        if (!kernel->device->info.needs_no_code)
            return sl_fail(err, SL_EINVAL, "a real GPU needs the source");
        return open_without_image(kernel, "it has neither a source nor a function cpu =", err);
    }
    sl_status status = open_source(kernel, &why);
    if (status == SL_EUNSUPPORTED && kernel->device->info.needs_no_code)
        return open_without_image(kernel, why.msg, err);
    if (status != SL_OK && err) *err = why;
    return status;
}

/* ---- values by a function ---- */

/* It runs in the middle of a call, as host functions do: nothing may call the core back. */
static sl_status compute(const sl_custom *kernel, const sl_custom_call *call,
                         const sl_compute_arg *args, sl_error *err)
{
    sl__host_func_depth++;
    sl_status status = kernel->compute_fn(kernel->compute_ud, call->grid, call->block, args,
                                          call->n, err);
    sl__host_func_depth--;
    return status;
}

/* ---- in all ---- */

static sl_status fill(sl_custom *kernel, const sl_custom_spec *spec, sl_error *err)
{
    sl_device *device = kernel->device;
    sl_status status = check_name(spec->name, err);
    if (status == SL_OK) status = parse_args(kernel, spec, err);
    if (status != SL_OK) return status;
    if (!copy_texts(kernel, spec)) return sl__no_memory(err, "a kernel");
    kernel->span_name = sl__strings_intern(&device->core->strings, kernel->name);
    kernel->info = (sl_custom_info){ .shared_bytes = -1,
                                     .local_bytes = -1,
                                     .max_threads = device->info.max_threads_per_block };
    status = make_hash(kernel, err);
    sl__find_atomics(kernel);
    sl__find_arrays(kernel);
    return status == SL_OK ? open_kernel(kernel, err) : status;
}

sl_status sl_custom_create(sl_device *device, const sl_custom_spec *spec, sl_custom **kernel_out,
                           char **log, sl_error *err)
{
    sl_status status = sl__device_enter(device, "kernel", err);
    sl_custom *kernel = NULL;
    *log = NULL;
    if (status == SL_OK) {
        kernel = calloc(1, device->backend->custom_bytes);
        if (!kernel) status = sl__no_memory(err, "a kernel");
    }
    if (!kernel) {
        if (spec->compute_release) spec->compute_release(spec->compute_ud);
        return status;
    }
    kernel->device = device;
    kernel->refs = 1;
    kernel->compute = spec->compute ? compute : NULL;
    kernel->compute_fn = spec->compute;
    kernel->compute_ud = spec->compute_ud;
    kernel->compute_release = spec->compute_release;
    status = fill(kernel, spec, err);
    if (status != SL_OK) {
        *log = kernel->log;
        kernel->log = NULL;
        sl__custom_free(kernel);
        return sl__device_leave(device, status, err);
    }
    sl_device_retain(device);
    *kernel_out = kernel;
    return SL_OK;
}
