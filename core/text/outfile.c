/* outfile.c - writing a file whole or not at all. */
#define _XOPEN_SOURCE 700 /* realpath, readlink, fsync */

#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "divert.h"
#include "temporary.h"

#define BUFFER_BYTES ((size_t)1 << 18)
#define LINK_BYTES ((size_t)4096)
#define MAX_LINKS 40
#define GZIP_LEVEL 6
#define GZIP_WINDOW (15 + 16) /* 2^15 bytes, in gzip's frame and not in zlib's */
#define GZIP_MEMORY 8
#define GZIP_OS_UNKNOWN 255

/* Between the buffer and the file. */
typedef struct sl__gzip {
    z_stream stream;
    gz_header header;
    unsigned char packed[1 << 16];
} sl__gzip;

/* A path is cut, so that the reason has room in the message. */
static sl_status fail_io(const char *path, int error, sl_error *err)
{
    if (error == ENOMEM) return sl__no_memory(err, "writing '%.150s'", path);
    return sl_fail(err, SL_EIO, "cannot write '%.150s': %s", path, strerror(error));
}

/* A new text: the first n bytes of `start`, then `rest`. */
static char *join(const char *start, size_t n, const char *rest)
{
    size_t m = strlen(rest) + 1;
    char *text = malloc(n + m);
    if (text) {
        memcpy(text, start, n);
        memcpy(text + n, rest, m);
    }
    return text;
}

/* Resolves a path at which there is no file: a symbolic link to nothing stays, and the file that it
 * names is made. 0, or an errno. */
static int follow_links(const char *path, char **target)
{
    char to[LINK_BYTES];
    *target = join(path, 0, path);
    for (int i = 0; *target && i < MAX_LINKS; i++) {
        ssize_t n = readlink(*target, to, sizeof to - 1);
        if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
        to[n] = '\0';
        char *next = join(*target, to[0] == '/' ? 0 : sl__folder_bytes(*target), to);
        free(*target);
        *target = next;
    }
    return *target ? ELOOP : ENOMEM;
}

/* What a path means for writing to it. */
typedef struct place {
    char *target; /* what is to be replaced or made; NULL if direct */
    bool direct;  /* no regular file, or one that stdout or stderr writes to as well */
    int standard; /* that descriptor, else -1 */
    bool exists;
    struct stat info; /* of what exists */
} place;

/* stdout or stderr, where it writes to this file (a path like "/dev/stdout" leads to it): a
 * rename would take its name away from it. Sockets cannot be opened again. -1: neither. */
static int find_standard(const struct stat *info)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat open_one;
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &open_one) == 0
            && open_one.st_dev == info->st_dev && open_one.st_ino == info->st_ino
            && (S_ISREG(info->st_mode) || S_ISSOCK(info->st_mode)))
            return fd;
    }
    return -1;
}

/* 0, or an errno. */
static int look_at(const char *path, place *found)
{
    *found = (place){ .standard = -1 };
    if (stat(path, &found->info) != 0)
        return errno == ENOENT ? follow_links(path, &found->target) : errno;
    if (S_ISDIR(found->info.st_mode)) return EISDIR;
    found->standard = find_standard(&found->info);
    if (found->standard < 0 && access(path, W_OK) != 0) /* a rename would not ask */
        return errno;
    found->exists = true;
    found->direct = found->standard >= 0 || !S_ISREG(found->info.st_mode);
    found->target = found->direct ? NULL : realpath(path, NULL);
    return found->direct || found->target ? 0 : errno;
}

/* The owner first: changing it takes set-uid bits away. What is not allowed is left out. */
static void keep_owner_and_mode(int fd, const struct stat *old)
{
    struct stat now;
    if (fstat(fd, &now) != 0) return;
    if ((now.st_uid != old->st_uid || now.st_gid != old->st_gid)
        && fchown(fd, old->st_uid, old->st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, old->st_gid);
    (void)!fchmod(fd, old->st_mode & 07777);
}

/* What is written to: the target itself, or a temporary file. 0, or an errno. */
static int open_descriptor(sl__outfile *file, const char *path, const place *found)
{
    if (found->direct) {
        file->fd = found->standard >= 0 ? fcntl(found->standard, F_DUPFD_CLOEXEC, 3)
                                        : open(path, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0 ? 0 : errno;
    }
    int error = sl__temporary_make(file->target, &file->temporary, &file->fd);
    if (error == 0 && found->exists) keep_owner_and_mode(file->fd, &found->info);
    return error;
}

/* ---- compression ------------------------------------------------------------ */

/* 0, or ENOMEM: with constant arguments no other error is possible. */
static int start_gzip(sl__outfile *file)
{
    sl__gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip) return ENOMEM;
    if (deflateInit2(&gzip->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY)
        != Z_OK) {
        free(gzip);
        return ENOMEM;
    }
    gzip->header.os = GZIP_OS_UNKNOWN;
    deflateSetHeader(&gzip->stream, &gzip->header);
    file->gzip = gzip;
    return 0;
}

static void end_gzip(sl__outfile *file)
{
    if (file->gzip) deflateEnd(&file->gzip->stream);
    free(file->gzip);
    file->gzip = NULL;
}

void sl__outfile_abandon(sl__outfile *file)
{
    end_gzip(file);
    if (file->temporary) unlink(file->temporary);
    if (file->fd >= 0) close(file->fd);
    sl__temporary_forget(file->temporary);
    free(file->target);
    free(file->buffer);
    *file = (sl__outfile){ .fd = -1 };
}

/* Abandons the file, and fails with the error, if it is one. */
static sl_status end(sl__outfile *file, int error, sl_error *err)
{
    const char *path = file->path;
    sl__outfile_abandon(file);
    return error == 0 ? SL_OK : fail_io(path, error, err);
}

static sl_status open_as(const char *path, bool packed, sl__outfile *file, sl_error *err)
{
    place found = { .standard = -1 };
    const char *instead;
    *file = (sl__outfile){ .path = path, .fd = -1 };
    int error = sl_divert_open(path, SL_FILE_REPLACE, &instead);
    if (error == 0) error = look_at(instead, &found);
    file->target = found.target;
    if (error == 0) file->buffer = malloc(BUFFER_BYTES);
    if (error == 0 && !file->buffer) error = ENOMEM;
    if (error == 0 && packed) error = start_gzip(file);
    if (error == 0) error = open_descriptor(file, instead, &found);
    return error == 0 ? SL_OK : end(file, error, err);
}

sl_status sl__outfile_open(const char *path, sl__outfile *file, sl_error *err)
{
    return open_as(path, false, file, err);
}

sl_status sl__outfile_open_packed(const char *path, sl__outfile *file, sl_error *err)
{
    size_t n = strlen(path);
    return open_as(path, n > 3 && strcmp(path + n - 3, ".gz") == 0, file, err);
}

sl_status sl__outfile_try(const char *path, bool *direct, sl_error *err)
{
    place found;
    sl__outfile file = { .path = path, .fd = -1 };
    int error = look_at(path, &found);
    file.target = found.target;
    *direct = found.direct;
    if (error == 0 && !found.direct) /* opening a pipe would wait for its reader */
        error = open_descriptor(&file, path, &found);
    return end(&file, error, err);
}

bool sl__outfile_failed(const sl__outfile *file) { return file->error != 0 || file->stopped; }

/* Looks for an interrupt before each piece of a buffer's size: a pipe that is full may never take
 * one. */
static void put(sl__outfile *file, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n && !sl__outfile_failed(file);) {
        if (sl_interrupt_wanted()) {
            file->stopped = true;
            return;
        }
        ssize_t part = write(file->fd, (const char *)bytes + done, n - done);
        if (part >= 0)
            done += (size_t)part;
        else if (errno != EINTR)
            file->error = errno;
    }
}

static void put_packed(sl__outfile *file, bool last)
{
    sl__gzip *gzip = file->gzip;
    z_stream *stream = &gzip->stream;
    stream->next_in = (unsigned char *)file->buffer;
    stream->avail_in = (uInt)file->used;
    if (sl__outfile_failed(file)) return;
    do {
        stream->next_out = gzip->packed;
        stream->avail_out = sizeof gzip->packed;
        deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        put(file, gzip->packed, sizeof gzip->packed - stream->avail_out);
    } while (stream->avail_out == 0);
}

static void flush(sl__outfile *file, bool last)
{
    if (file->gzip)
        put_packed(file, last);
    else
        put(file, file->buffer, file->used);
    file->used = 0;
}

void sl__outfile_write(sl__outfile *file, const char *bytes, size_t n)
{
    while (n > 0) {
        if (file->used == BUFFER_BYTES) flush(file, false);
        size_t room = BUFFER_BYTES - file->used, part = n < room ? n : room;
        memcpy(file->buffer + file->used, bytes, part);
        file->used += part;
        bytes += part;
        n -= part;
    }
}

sl_status sl__outfile_finish(sl__outfile *file, sl_error *err)
{
    flush(file, true);
    free(file->buffer);
    file->buffer = NULL;
    if (file->error == 0 && !file->stopped && file->temporary && fsync(file->fd) != 0)
        file->error = errno;
    if (file->stopped && file->error == 0) {
        sl__outfile_abandon(file);
        sl_interrupt(false);
        return sl_fail(err, SL_EINTERRUPT, "interrupted");
    }
    return file->error == 0 ? SL_OK : end(file, file->error, err);
}

/* The descriptor keeps the lock until the file has its name. */
sl_status sl__outfile_place(sl__outfile *file, sl_error *err)
{
    int error = 0;
    if (!file->temporary) {
        error = close(file->fd) == 0 ? 0 : errno;
        file->fd = -1;
    } else if (rename(file->temporary, file->target) != 0) {
        error = errno;
    } else {
        sl__temporary_forget(file->temporary);
        file->temporary = NULL;
    }
    return end(file, error, err);
}

sl_status sl__outfile_close(sl__outfile *file, sl_error *err)
{
    sl_status status = sl__outfile_finish(file, err);
    return status == SL_OK ? sl__outfile_place(file, err) : status;
}
