/* spool_write.c - appends chunks of records to the spool of this process, whose program may close
 * any descriptor, and open a file of its own that gets the same number. So each use first compares
 * the descriptor's file with the spool's; if it is another one, the spool is opened by its path.
 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */

#include "spool_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base.h"
#include "spool_pack.h"

enum {
    CHUNK_BYTES = 1 << 20, /* one that has more is written */
    FIRST_DESCRIPTOR = 500 /* where few programs expect those that they open */
};

static struct {
    int fd;
    char path[PATH_MAX];
    dev_t device;
    ino_t inode;
    off_t written; /* whole chunks */
    uint8_t *data; /* a header, and the records behind it */
    size_t n, cap;
    spool_packer packer;
    uint32_t n_names;
} spool = { .fd = -1 };

/* errno is that of open. */
static bool open_file(int flags)
{
    spool.fd = open(spool.path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (spool.fd < 0) return false;
    const int high = fcntl(spool.fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (high < 0) return true; /* there may be none so high */
    close(spool.fd);
    spool.fd = high;
    return true;
}

/* A file that took the inode of a spool which was removed has another length. */
static bool is_spool(void)
{
    struct stat info;
    return fstat(spool.fd, &info) == 0 && info.st_dev == spool.device && info.st_ino == spool.inode
           && info.st_size == spool.written;
}

/* A descriptor that is not the spool's is the program's, and stays open. */
static bool find_file(void)
{
    if (is_spool()) return true;
    if (open_file(0) && is_spool()) return true;
    if (spool.fd >= 0) close(spool.fd);
    spool.fd = -1;
    return false;
}

bool spool_open(const char *folder)
{
    struct stat info;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int n = snprintf(spool.path, sizeof spool.path, "%s/%ld-%lld%09ld.spool", folder,
                     (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
    if (n < 0 || (size_t)n >= sizeof spool.path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!open_file(O_CREAT | O_EXCL) || fstat(spool.fd, &info) != 0) return false;
    spool.device = info.st_dev;
    spool.inode = info.st_ino;
    return true;
}

static void start_chunk(void)
{
    spool.n = sizeof(spool_chunk);
    spool_pack_begin(&spool.packer);
}

bool spool_add(const spool_record *record)
{
    const size_t most = SPOOL_PACKED_MOST + SPOOL_TEXT_MOST;
    if (spool.fd < 0) return false;
    if (spool.n == 0) start_chunk();
    if (spool.n + most > CHUNK_BYTES) spool_write();
    if (spool.fd < 0 || !SL__GROW(spool.data, spool.cap, spool.n + most)) return false;
    const uint8_t *end = spool_pack(&spool.packer, record, spool.data + spool.n);
    if (end) spool.n = (size_t)(end - spool.data);
    return end != NULL;
}

uint32_t spool_next_name(void) { return ++spool.n_names; }

/* A file that may not grow (ulimit -f) ends a process by a signal, which is held back. */
static bool append(const void *data, size_t n)
{
    sigset_t too_large, before, pending;
    const struct timespec at_once = { 0, 0 };
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    const bool done = sl__write_all(spool.fd, data, n, NULL);
    const int error = errno;
    if (!done && error == EFBIG && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ))
        sigtimedwait(&too_large, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

static void seal(void)
{
    const size_t bytes = spool.n - sizeof(spool_chunk);
    const uint8_t *records = spool.data + sizeof(spool_chunk);
    const spool_chunk chunk = { SPOOL_MAGIC, (uint32_t)bytes,
                                sl__checksum(SL__HASH_START, records, bytes) };
    memcpy(spool.data, &chunk, sizeof chunk);
}

/* What was written of the chunk makes room for the sentence. */
static void close_full(int error)
{
    char text[160];
    snprintf(text, sizeof text, "its file cannot be written (%s)", strerror(error));
    start_chunk();
    if (ftruncate(spool.fd, spool.written) == 0) {
        spool_add(&(spool_record){ .name = { SPOOL_FAILURE, 0, text } });
        seal();
        if (!append(spool.data, spool.n)) (void)!ftruncate(spool.fd, spool.written);
    }
    close(spool.fd);
    spool.fd = -1;
}

void spool_write(void)
{
    if (spool.fd < 0 || spool.n <= sizeof(spool_chunk)) return;
    if (!find_file()) return;
    seal();
    if (!append(spool.data, spool.n)) {
        close_full(errno);
        return;
    }
    spool.written += (off_t)spool.n;
    start_chunk();
}
