/* headers.c - the headers that a kernel's source may include, as files for the compiler.
 *
 * CUDA's are ours (device/). Those of C with functions are empty: what they declare is there
 * without them, as it is for NVRTC. Those with limits alone (float.h) are the compiler's own, and
 * not here.
 * What only a GPU or only the host has is refused with a sentence: the
 * host's headers have types of the same names. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_text.h"
#include "growing_text.h"

enum { HEADER_PATH_BYTES = 4096 };

/* `device`: the file of device/ that is in it; "": nothing is. */
static const struct header {
    const char *name, *device;
} headers[] = {
    { "cuda_fp16.h", "half.h" },
    { "cuda_bf16.h", "bfloat16.h" },
    { "streamlab_narrow.h", "narrow.h" },
    { "cooperative_groups.h", "cooperative_groups.h" },
    { "cooperative_groups/reduce.h", "cooperative_reduce.h" },
    { "stdint.h", "integer_types.h" },
    { "cstdint", "cstdint.h" },
    { "math.h", "math_constants.h" },
    { "cmath", "cmath.h" },
    { "math_constants.h", "cuda_constants.h" },
    { "cuda_runtime.h", "" },
    { "device_launch_parameters.h", "" },
    { "assert.h", "" },
    { "cassert", "" },
    { "stdio.h", "" },
    { "cstdio", "" },
    { "string.h", "" },
    { "cstring", "" },
};

/* Folders come before what is in them. */
static const char *const folders[] = { "cooperative_groups", "cuda", "cuda/std" };

/* What a real GPU has, and what it has not either. NULL ends the names. */
static const struct refusal {
    const char *why;
    const char *names[32];
} refusals[] = {
    { "a real GPU: a simulated one has no functions of it",
      { "mma.h",
        "cooperative_groups/memcpy_async.h",
        "cooperative_groups/scan.h",
        "cuda_fp8.h",
        "cuda_fp4.h",
        "cuda_pipeline.h",
        "cuda_awbarrier.h",
        "curand_kernel.h",
        "cuda/atomic",
        "cuda/barrier",
        "cuda/latch",
        "cuda/pipeline",
        "cuda/ptx",
        "cuda/semaphore",
        "cuda/std/array",
        "cuda/std/atomic",
        "cuda/std/bit",
        "cuda/std/cmath",
        "cuda/std/complex",
        "cuda/std/cstdint",
        "cuda/std/limits",
        "cuda/std/tuple",
        "cuda/std/type_traits",
        "cuda/std/utility" } },
    { "the host: a GPU has no functions of it",
      { "algorithm", "array", "cstdlib", "ctime", "functional", "iostream", "memory", "random",
        "stdlib.h", "string", "thread", "time.h", "tuple", "unistd.h", "utility", "vector" } },
};

enum { HEADERS = sizeof headers / sizeof *headers, FOLDERS = sizeof folders / sizeof *folders };
enum { REFUSALS = sizeof refusals / sizeof *refusals };

static void add_device_file(emu_text *text, const char *name)
{
    for (const emu_device_file *file = emu_device_files; file->name; file++) {
        if (strcmp(strrchr(file->name, '/') + 1, name) != 0) continue;
        emu_text_printf(text, "#line 1 \"<streamlab>/%s\"\n", name);
        emu_text_add(text, file->data, file->len);
    }
}

static bool write_file(const char *folder, const char *name, const emu_text *text)
{
    char path[HEADER_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) return false;
    bool whole = fwrite(text->data, 1, text->n, file) == text->n;
    return fclose(file) == 0 && whole;
}

static bool write_header(const char *folder, const struct header *header)
{
    emu_text text = { 0 };
    emu_text_puts(&text, "\n");
    add_device_file(&text, header->device);
    bool written = !text.failed && write_file(folder, header->name, &text);
    emu_text_free(&text);
    return written;
}

static bool write_refusal(const char *folder, const char *name, const char *why)
{
    emu_text text = { 0 };
    emu_text_printf(&text, "#line 1 \"<%s>\"\n", name);
    emu_text_printf(&text, "#error \"<%s> is for %s\"\n", name, why);
    bool written = !text.failed && write_file(folder, name, &text);
    emu_text_free(&text);
    return written;
}

static bool write_refusals(const char *folder)
{
    bool written = true;
    for (int i = 0; i < REFUSALS; i++)
        for (const char *const *name = refusals[i].names; *name; name++)
            written = written && write_refusal(folder, *name, refusals[i].why);
    return written;
}

static bool make_folders(const char *folder)
{
    char path[HEADER_PATH_BYTES];
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        if (mkdir(path, 0700) != 0) return false;
    }
    return true;
}

sl_status emu_headers_write(const char *folder, sl_error *err)
{
    bool written = make_folders(folder);
    for (int i = 0; i < HEADERS && written; i++)
        written = write_header(folder, &headers[i]);
    if (written && write_refusals(folder)) return SL_OK;
    return sl_fail(err, SL_EIO, "headers for the compiler cannot be written to %.200s: %s", folder,
                   strerror(errno));
}
