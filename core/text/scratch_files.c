/* scratch_files.c - numbered files of a temporary folder of this process. */
#define _XOPEN_SOURCE 700 /* getpid */

#include "scratch_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base.h"
#include "temporary_folder.h"

enum { COPY_BYTES = 1 << 16 };

/* A signal handler reaches nothing but globals. A child process has a copy of them. */
static char folder[SL_TEMPORARY_FOLDER_BYTES]; /* "": none */
static volatile unsigned last;
static volatile pid_t owner;

static int make_folder(void)
{
    if (owner == getpid() && *folder != '\0') return 0;
    const int error = sl_temporary_folder_make(folder);
    owner = getpid();
    last = 0;
    if (error != 0) *folder = '\0';
    return error;
}

/* As snprintf would, which is not safe in a signal handler. */
void sl__scratch_path(unsigned number, char *to)
{
    char digits[12];
    size_t n = strlen(folder), at = sizeof digits;
    memcpy(to, folder, n);
    to[n++] = '/';
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    memcpy(to + n, digits + at, sizeof digits - at);
    to[n + sizeof digits - at] = '\0';
}

int sl__scratch_make(unsigned *number)
{
    char path[SL__SCRATCH_PATH];
    const int error = make_folder();
    if (error != 0) return error;
    sl__scratch_path(last + 1, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    close(fd);
    *number = ++last;
    return 0;
}

static int copy_bytes(int from, int to)
{
    char buffer[COPY_BYTES];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        if (!sl__write_all(to, buffer, (size_t)n, NULL)) return errno;
    return n < 0 ? errno : 0;
}

int sl__scratch_copy(const char *from, unsigned *number)
{
    char path[SL__SCRATCH_PATH];
    int error = sl__scratch_make(number);
    if (error != 0) return error;
    sl__scratch_path(*number, path);
    const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(path, O_WRONLY | O_CLOEXEC);
    error = in < 0 || out < 0 ? errno : copy_bytes(in, out);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    if (error != 0) sl__scratch_remove(*number);
    return error;
}

void sl__scratch_remove(unsigned number)
{
    char path[SL__SCRATCH_PATH];
    if (number == 0 || *folder == '\0') return;
    sl__scratch_path(number, path);
    unlink(path);
}

void sl__scratch_remove_all(void)
{
    if (*folder == '\0' || owner != getpid()) return;
    for (unsigned i = 1; i <= last; i++)
        sl__scratch_remove(i);
    rmdir(folder);
    *folder = '\0';
}
