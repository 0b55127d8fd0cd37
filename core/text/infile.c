/* infile.c - reading a file a part at a time, compressed or not. */
#include "infile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "divert.h"

#define MAX_BYTES (UINT64_C(4) << 30)
#define PART_BYTES ((size_t)1 << 20)
#define ZLIB_BUFFER (1u << 17)

struct sl__infile {
    gzFile file;
    uint64_t n; /* bytes so far */
    char path[];
};

/* A path is cut, so that the reason has room in the message. */
static sl_status fail_io(const char *path, int error, sl_error *err)
{
    if (error == ENOMEM) return sl__no_memory(err, "reading '%.150s'", path);
    return sl_fail(err, SL_EIO, "cannot read '%.150s': %s", path, strerror(error));
}

static sl_status fail_read(const sl__infile *in, sl_error *err)
{
    int error;
    gzerror(in->file, &error);
    switch (error) {
    case Z_ERRNO: return fail_io(in->path, errno, err);
    case Z_MEM_ERROR: return fail_io(in->path, ENOMEM, err);
    case Z_BUF_ERROR:
        return sl_fail(err, SL_EINVAL, "it is cut short: the compressed data ends too early");
    default: return sl_fail(err, SL_EINVAL, "it is damaged: the compressed data is not valid");
    }
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

sl_status sl__infile_open(const char *path, sl__infile **in, sl_error *err)
{
    const char *instead;
    size_t n = strlen(path) + 1;
    const int error = sl_divert_open(path, SL_FILE_READ, &instead);
    int fd = error == 0 ? open_file(instead) : -1;
    if (fd < 0) return fail_io(path, error != 0 ? error : errno, err);
    sl__infile *opened = calloc(1, sizeof *opened + n);
    gzFile file = opened ? gzdopen(fd, "rb") : NULL;
    if (!file) {
        close(fd);
        free(opened);
        return fail_io(path, ENOMEM, err);
    }
    gzbuffer(file, ZLIB_BUFFER);
    opened->file = file;
    memcpy(opened->path, path, n);
    *in = opened;
    return SL_OK;
}

sl_status sl__infile_read(sl__infile *in, char *to, size_t room, size_t *n, sl_error *err)
{
    sl_status status = sl_interrupt_check(err);
    if (status != SL_OK) return status;
    errno = 0;
    int got = gzread(in->file, to, (unsigned)(room < PART_BYTES ? room : PART_BYTES));
    int error = Z_OK;
    if (got == 0) gzerror(in->file, &error); /* data that ends too early shows here alone */
    if (got < 0 || error != Z_OK) return fail_read(in, err);
    *n = (size_t)got;
    in->n += *n;
    if (in->n > MAX_BYTES)
        return sl_fail(err, SL_EINVAL, "it has more than 4 GiB, which is too much to load");
    return SL_OK;
}

void sl__infile_close(sl__infile *in)
{
    gzclose(in->file);
    free(in);
}

const char *sl__infile_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
