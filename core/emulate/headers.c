/* headers.c - the headers that a kernel's source may include, as files for the compiler.
 *
 * CUDA's are ours (device/). Those of C with functions are empty: what they declare is there without
 * them, as it is for NVRTC. Those with types and limits alone (stdint.h, float.h) are the compiler's
 * own, and not here. What only a GPU can do is refused with a sentence. */
#include "headers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_text.h"
#include "text.h"

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
    { "math.h", "math_constants.h" },
    { "cmath", "cmath.h" },
    { "math_constants.h", "cuda_constants.h" },
    { "cuda_runtime.h", "" },
    { "device_launch_parameters.h", "" },
    { "assert.h", "" },
    { "cassert", "" },
    { "stdio.h", "" },
    { "cstdio", "" },
};

/* Folders come before what is in them. */
static const char *const folders[] = { "cooperative_groups", "cuda", "cuda/std" };

static const char *const refused[] = {
    "mma.h",
    "cooperative_groups/memcpy_async.h",
    "cuda_fp8.h",
    "cooperative_groups/scan.h",
    "cuda_fp4.h",
    "cuda_pipeline.h",
    "curand_kernel.h",
    "cuda_awbarrier.h",
    "cuda/atomic",
    "cuda/barrier",
    "cuda/pipeline",
    "cuda/ptx",
    "cuda/semaphore",
    "cuda/latch",
    "cuda/std/array",
    "cuda/std/atomic",
    "cuda/std/cmath",
    "cuda/std/complex",
    "cuda/std/limits",
    "cuda/std/cstdint",
    "cuda/std/tuple",
    "cuda/std/type_traits",
    "cuda/std/utility",
    "cuda/std/bit",
};

enum { HEADERS = sizeof headers / sizeof *headers, REFUSED = sizeof refused / sizeof *refused };
enum { FOLDERS = sizeof folders / sizeof *folders };

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
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
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

static bool write_refusal(const char *folder, const char *name)
{
    emu_text text = { 0 };

    emu_text_printf(&text, "#line 1 \"<%s>\"\n", name);
    emu_text_printf(
        &text, "#error \"<%s> is for a real GPU: a simulated one has no functions of it\"\n", name);
    bool written = !text.failed && write_file(folder, name, &text);
    emu_text_free(&text);
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

sl_status emu_headers_write(const char *folder, const char *source, sl_error *err)
{
    if (!strstr(source, "include")) return SL_OK;
    bool written = make_folders(folder);
    for (int i = 0; i < HEADERS && written; i++)
        written = write_header(folder, &headers[i]);
    for (int i = 0; i < REFUSED && written; i++)
        written = write_refusal(folder, refused[i]);
    if (written) return SL_OK;
    return sl_fail(err, SL_EIO, "headers for the compiler cannot be written to %.200s: %s", folder,
                   strerror(errno));
}

static void remove_one(const char *folder, const char *name, int (*remove_it)(const char *))
{
    char path[HEADER_PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    remove_it(path);
}

void emu_headers_remove(const char *folder)
{
    for (int i = 0; i < HEADERS; i++)
        remove_one(folder, headers[i].name, unlink);
    for (int i = 0; i < REFUSED; i++)
        remove_one(folder, refused[i], unlink);
    for (int i = FOLDERS - 1; i >= 0; i--)
        remove_one(folder, folders[i], rmdir);
}
