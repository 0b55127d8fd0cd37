/* outfile.c - writing a file whole or not at all. */
#define _XOPEN_SOURCE 700   /* realpath, fsync */

#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 18)
#define SUFFIX_BYTES 48

static sl_status fail_io(const char *path, int error, sl_error *err)
{
    if (error == ENOMEM)
        return sl_fail(err, SL_ENOMEM, "no memory for writing '%s'", path);
    return sl_fail(err, SL_EIO, "cannot write '%s': %s", path, strerror(error));
}

/* What an existing path means for writing to it. 0, or an errno. */
static int look_at(const char *path, bool *direct, mode_t *mode, char **target)
{
    struct stat info;
    *direct = false;
    *mode = 0666;
    *target = NULL;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return EISDIR;
        *direct = !S_ISREG(info.st_mode);
        *mode = info.st_mode & 07777;
        if (access(path, W_OK) != 0)    /* a rename would not ask */
            return errno;
        *target = *direct ? NULL : realpath(path, NULL);
        return *direct || *target ? 0 : errno;
    }
    if (errno != ENOENT)
        return errno;
    size_t size = strlen(path) + 1;
    *target = malloc(size);
    if (!*target)
        return ENOMEM;
    memcpy(*target, path, size);
    return 0;
}

/* The process's number keeps two writers apart; a name that is taken is skipped. */
static int open_temporary(sl__outfile *file)
{
    size_t size = strlen(file->target) + SUFFIX_BYTES;
    file->temporary = malloc(size);
    if (!file->temporary)
        return ENOMEM;
    int error = EEXIST;
    for (int i = 0; i < 100 && error == EEXIST; i++) {
        snprintf(file->temporary, size, "%s.%ld-%d.tmp", file->target, (long)getpid(), i);
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = file->fd >= 0 ? 0 : errno;
    }
    if (error != 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    return error;
}

void sl__outfile_abandon(sl__outfile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->target);
    free(file->buffer);
    *file = (sl__outfile){ .fd = -1 };
}

sl_status sl__outfile_open(const char *path, sl__outfile *file, sl_error *err)
{
    bool direct;
    mode_t mode;
    *file = (sl__outfile){ .path = path, .fd = -1 };
    int error = look_at(path, &direct, &mode, &file->target);
    if (error == 0)
        file->buffer = malloc(BUFFER_BYTES);
    if (error == 0 && !file->buffer)
        error = ENOMEM;
    if (error == 0 && direct) {
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        error = file->fd >= 0 ? 0 : errno;
    } else if (error == 0) {
        error = open_temporary(file);
        if (error == 0 && mode != 0666)
            (void)!fchmod(file->fd, mode);      /* the old file's; its own mode will do, too */
    }
    if (error == 0)
        return SL_OK;
    sl__outfile_abandon(file);
    return fail_io(path, error, err);
}

static void flush(sl__outfile *file)
{
    for (size_t done = 0; done < file->used && file->error == 0;) {
        ssize_t n = write(file->fd, file->buffer + done, file->used - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            file->error = errno;
    }
    file->used = 0;
}

void sl__outfile_write(sl__outfile *file, const char *bytes, size_t n)
{
    while (n > 0) {
        if (file->used == BUFFER_BYTES)
            flush(file);
        size_t room = BUFFER_BYTES - file->used, part = n < room ? n : room;
        memcpy(file->buffer + file->used, bytes, part);
        file->used += part;
        bytes += part;
        n -= part;
    }
}

sl_status sl__outfile_close(sl__outfile *file, sl_error *err)
{
    const char *path = file->path;
    flush(file);
    int error = file->error;
    if (error == 0 && file->temporary && fsync(file->fd) != 0)
        error = errno;
    if (close(file->fd) != 0 && error == 0)
        error = errno;
    file->fd = -1;
    if (error == 0 && file->temporary) {
        if (rename(file->temporary, file->target) != 0) {
            error = errno;
        } else {
            free(file->temporary);
            file->temporary = NULL;
        }
    }
    sl__outfile_abandon(file);
    return error == 0 ? SL_OK : fail_io(path, error, err);
}
