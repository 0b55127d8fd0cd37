/* infile.c - reading a file whole, compressed or not. */
#include "infile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_BYTES (UINT64_C(4) << 30)
#define FIRST_BYTES ((size_t)1 << 18)
#define PART_BYTES (1u << 20)
#define ZLIB_BUFFER (1u << 17)

/* A path is cut, so that the reason has room in the message. */
static sl_status fail_io(const char *path, int error, sl_error *err)
{
    if (error == ENOMEM) return sl_fail(err, SL_ENOMEM, "no memory for reading '%.150s'", path);
    return sl_fail(err, SL_EIO, "cannot read '%.150s': %s", path, strerror(error));
}

typedef struct infile {
    const char *path;
    gzFile file;
    char *text;
    size_t n, cap;
} infile;

/* Twice the room, with one byte more for a NUL. */
static sl_status grow(infile *in, sl_error *err)
{
    size_t cap = in->cap ? in->cap * 2 : FIRST_BYTES;
    char *grown = cap > in->cap ? realloc(in->text, cap + 1) : NULL;
    if (!grown)
        return sl_fail(err, SL_ENOMEM, "no memory for the %zu bytes of '%.150s'", cap, in->path);
    in->text = grown;
    in->cap = cap;
    return SL_OK;
}

static sl_status fail_read(const infile *in, sl_error *err)
{
    int error;
    gzerror(in->file, &error);
    switch (error) {
    case Z_ERRNO: return fail_io(in->path, errno, err);
    case Z_MEM_ERROR: return fail_io(in->path, ENOMEM, err);
    case Z_BUF_ERROR:
        return sl_fail(err, SL_EINVAL, "'%.150s' is cut short: the compressed data ends too early",
                       in->path);
    default:
        return sl_fail(err, SL_EINVAL, "'%.150s' is damaged: the compressed data is not valid",
                       in->path);
    }
}

/* Looked at when the first bytes are there, if there are any. */
static sl_status check_start(const infile *in, sl_error *err)
{
    size_t at = 0;
    int error = Z_OK;
    if (in->n == 0) gzerror(in->file, &error);
    if (error != Z_OK) return fail_read(in, err);
    if (in->n >= 3 && memcmp(in->text, "\xEF\xBB\xBF", 3) == 0) at = 3;
    while (at < in->n && strchr(" \t\r\n", in->text[at]) && in->text[at])
        at++;
    if (in->n == 0) return sl_fail(err, SL_EINVAL, "'%.150s' is empty", in->path);
    if (at < in->n && (in->text[at] == '{' || in->text[at] == '[')) return SL_OK;
    return sl_fail(err, SL_EINVAL, "'%.150s' is no JSON trace: it does not begin with { or [",
                   in->path);
}

static sl_status read_all(infile *in, sl_error *err)
{
    for (bool first = true;; first = false) {
        sl_status status = in->n == in->cap ? grow(in, err) : SL_OK;
        if (status != SL_OK) return status;
        if ((status = sl_interrupt_check(err)) != SL_OK) return status;
        size_t room = in->cap - in->n;
        errno = 0;
        unsigned part = room < PART_BYTES ? (unsigned)room : PART_BYTES;
        int n = gzread(in->file, in->text + in->n, part);
        if (n < 0) return fail_read(in, err);
        in->n += (size_t)n;
        if (first && (status = check_start(in, err)) != SL_OK) return status;
        if (in->n > MAX_BYTES)
            return sl_fail(err, SL_EINVAL,
                           "'%.150s' has more than 4 GiB, which is too much to "
                           "load",
                           in->path);
        if (n == 0) break;
    }
    in->text[in->n] = '\0';
    int error;
    gzerror(in->file, &error); /* data that ends too early shows here alone */
    return error == Z_OK ? SL_OK : fail_read(in, err);
}

/* A folder can be opened; reading it fails in zlib, whose message would not say why. */
static int open_file(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(fd);
        errno = EISDIR;
        return -1;
    }
    return fd;
}

sl_status sl__infile_read(const char *path, char **text, size_t *n, sl_error *err)
{
    infile in = { .path = path };
    int fd = open_file(path);
    if (fd < 0) return fail_io(path, errno, err);
    in.file = gzdopen(fd, "rb");
    if (!in.file) {
        close(fd);
        return fail_io(path, ENOMEM, err);
    }
    gzbuffer(in.file, ZLIB_BUFFER);
    sl_status status = read_all(&in, err);
    gzclose(in.file);
    if (status != SL_OK) {
        free(in.text);
        return status;
    }
    *text = in.text;
    *n = in.n;
    return SL_OK;
}

const char *sl__infile_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
