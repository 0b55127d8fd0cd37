/* file.c - writing files whole or not at all. */
#include "file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "outfile.h"

/* Opened, written and durable; not yet in its place. On failure there is nothing to abandon. */
static sl_status prepare(const sl_file *file, sl__outfile *out, sl_error *err)
{
    sl_status status = sl__outfile_open(file->path, out, err);
    if (status != SL_OK) return status;
    sl__outfile_write(out, file->bytes, file->n_bytes);
    return sl__outfile_finish(out, err);
}

sl_status sl_files_write(const sl_file *files, size_t n, sl_error *err)
{
    sl__outfile *out = calloc(n + 1, sizeof *out);
    if (!out) return sl__no_memory(err, "writing %zu files", n);
    sl_status status = SL_OK;
    size_t prepared = 0, placed = 0;
    while (status == SL_OK && prepared < n) {
        status = prepare(&files[prepared], &out[prepared], err);
        prepared += status == SL_OK;
    }
    while (status == SL_OK && placed < n)
        status = sl__outfile_place(&out[placed++], err);
    while (placed < prepared)
        sl__outfile_abandon(&out[placed++]);
    free(out);
    return status;
}

sl_status sl_file_try(const char *path, bool *direct, sl_error *err)
{
    bool is_direct;
    return sl__outfile_try(path, direct ? direct : &is_direct, err);
}

void sl_make_folders_above(const char *path)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder || !*folder) return;
    for (char *at = folder + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(folder, 0700);
        *at = '/';
    }
}
