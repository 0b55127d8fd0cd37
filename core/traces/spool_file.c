/* spool_file.c - reads a spool: chunks with checksums, and the records in them. Nothing in a file
 * is believed before its length is checked. */
#include "spool_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base.h"
#include "../text/divert.h"

sl_status sl__spool_file_open(sl__spool_file *file, const char *path, sl_error *err)
{
    *file = (sl__spool_file){ 0 };
    return sl__infile_open(path, &file->in, err);
}

void sl__spool_file_close(sl__spool_file *file)
{
    if (file->in) sl__infile_close(file->in);
    spool_unpack_free(&file->unpacker);
    free(file->chunk);
    *file = (sl__spool_file){ 0 };
}

/* As many of n bytes as there are. */
static sl_status read_some(sl__spool_file *file, void *to, size_t n, size_t *done, sl_error *err)
{
    sl_status status = SL_OK;
    size_t got = 1;
    for (*done = 0; *done < n && got > 0 && status == SL_OK; *done += got) {
        got = 0;
        status = sl__infile_read(file->in, (char *)to + *done, n - *done, &got, err);
    }
    return status;
}

static sl_status end(sl__spool_file *file, const char *damage)
{
    file->damage = damage;
    return SL_OK;
}

/* The records behind a chunk's header. */
static sl_status read_records(sl__spool_file *file, const spool_chunk *chunk, sl_error *err)
{
    size_t got;
    if (!SL__GROW(file->chunk, file->cap, chunk->bytes))
        return sl__no_memory(err, "a part of a recording");
    sl_status status = read_some(file, file->chunk, chunk->bytes, &got, err);
    if (status != SL_OK) return status;
    if (got < chunk->bytes) return end(file, "its last part is cut off");
    if (sl__checksum(SL__HASH_START, file->chunk, chunk->bytes) != chunk->sum)
        return end(file, "a part of it is damaged");
    spool_unpack_begin(&file->unpacker, file->chunk, chunk->bytes);
    return SL_OK;
}

/* *more: there is one. */
static sl_status next_chunk(sl__spool_file *file, bool *more, sl_error *err)
{
    spool_chunk chunk;
    size_t got;
    sl_status status = read_some(file, &chunk, sizeof chunk, &got, err);
    if (status != SL_OK) return status;
    if (!file->begun && (got < sizeof chunk || chunk.magic != SPOOL_MAGIC))
        return sl_fail(err, SL_EINVAL, "it is no recording of streamlab record");
    *more = got > 0;
    if (got == 0) return SL_OK;
    if (got < sizeof chunk) return end(file, "its last part is cut off");
    if (chunk.magic != SPOOL_MAGIC || chunk.bytes == 0 || chunk.bytes > SPOOL_CHUNK_MOST)
        return end(file, "a part of it is damaged");
    return read_records(file, &chunk, err);
}

static sl_status begin(sl__spool_file *file, const spool_record *first, sl_error *err)
{
    file->begun = true;
    if (first->kind != SPOOL_START)
        return sl_fail(err, SL_EINVAL, "it does not begin as a recording does");
    if (first->start.version > SPOOL_VERSION)
        return sl_fail(err, SL_EINVAL, "a later version of streamlab has recorded it");
    return SL_OK;
}

sl_status sl__spool_file_next(sl__spool_file *file, spool_record *record, sl_error *err)
{
    spool_unpacked done = SPOOL_AT_END;
    bool more = true;
    memset(record, 0, sizeof *record);
    while (more && !file->damage
           && (done = spool_unpack(&file->unpacker, record)) == SPOOL_AT_END) {
        sl_status status = next_chunk(file, &more, err);
        if (status != SL_OK) return status;
    }
    if (done == SPOOL_NO_MEMORY) return sl__no_memory(err, "a part of a recording");
    if (done == SPOOL_DAMAGED) end(file, "a part of it is damaged");
    if (done != SPOOL_UNPACKED) {
        record->kind = (spool_kind)0;
        return SL_OK;
    }
    return file->begun ? SL_OK : begin(file, record, err);
}

/* A pipe is not opened: who writes to it would notice. */
bool sl__is_spool(const char *path)
{
    struct stat info;
    uint32_t magic = 0;
    const char *instead;
    if (sl_divert_open(path, SL_FILE_READ, &instead) != 0 || stat(instead, &info) != 0
        || !S_ISREG(info.st_mode))
        return false;
    int fd = open(instead, O_RDONLY | O_CLOEXEC);
    const bool was_read = fd >= 0 && sl__read_all(fd, &magic, sizeof magic, NULL);
    if (fd >= 0) close(fd);
    return was_read && magic == SPOOL_MAGIC;
}
