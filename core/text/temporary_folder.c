/* temporary_folder.c - folders for what is needed for a moment. Others can make names in the folder
 * that they lie in, so that what is removed is this user's, and reached without a link. */
#define _XOPEN_SOURCE 700 /* mkdtemp, openat */
#define _DARWIN_C_SOURCE
#define _DEFAULT_SOURCE

#include "temporary_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base.h"

#define MOST_DEPTH 100 /* of folders in it; each takes a descriptor */
#define RANDOM_PART "XXXXXX"

static const char name_format[] = "streamlab-%ld-%08x-";

/* ---- whose it is ------------------------------------------------------------- */

/* A process's number means something on one machine, and in one container. */
static uint32_t this_place(void)
{
    char host[256] = "", container[64];
    (void)gethostname(host, sizeof host - 1);
    ssize_t n = readlink("/proc/self/ns/pid", container, sizeof container);
    const uint64_t hash = sl__hash(SL__HASH_START, host, strlen(host));
    return (uint32_t)sl__hash(hash, container, n > 0 ? (size_t)n : 0);
}

/* Whether a name is that of a folder whose process was here and has ended. */
static bool is_left_behind(const char *name, uint32_t place)
{
    long pid;
    unsigned its_place;
    char again[64];
    if (sscanf(name, name_format, &pid, &its_place) != 2 || pid <= 0 || its_place != place)
        return false;
    int n = snprintf(again, sizeof again, name_format, pid, its_place);
    return strncmp(name, again, (size_t)n) == 0 && strlen(name + n) == strlen(RANDOM_PART)
           && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* ---- removing ---------------------------------------------------------------- */

/* Its descriptor, if it is a folder of this user's and no link to one; else -1. */
static int open_own(int parent, const char *name)
{
    struct stat info;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid()) return fd;
    close(fd);
    return -1;
}

static void remove_entry(int parent, const char *name, int depth);

/* Takes the descriptor. */
static void empty(int fd, int depth)
{
    DIR *names = fdopendir(fd);
    if (!names) {
        close(fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(names));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(dirfd(names), entry->d_name, depth);
    }
    closedir(names);
}

static void remove_entry(int parent, const char *name, int depth)
{
    int fd = depth < MOST_DEPTH ? open_own(parent, name) : -1;
    if (fd >= 0) empty(fd, depth + 1);
    if (unlinkat(parent, name, fd >= 0 ? AT_REMOVEDIR : 0) != 0 && fd < 0)
        (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void sl_temporary_folder_remove(const char *path)
{
    int fd = open_own(AT_FDCWD, path);
    if (fd >= 0) empty(fd, 0);
    (void)rmdir(path);
}

static void remove_left_behind(int parent, const char *name)
{
    int fd = open_own(parent, name);
    if (fd < 0) return;
    empty(fd, 0);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static void tidy(const char *folder, uint32_t place)
{
    DIR *names = opendir(folder);
    if (!names) return;
    for (const struct dirent *entry; (entry = readdir(names));) {
        if (is_left_behind(entry->d_name, place)) remove_left_behind(dirfd(names), entry->d_name);
    }
    closedir(names);
}

/* ---- a new one --------------------------------------------------------------- */

int sl_temporary_folder_make(char path[SL_TEMPORARY_FOLDER_BYTES])
{
    static atomic_long tidied_by; /* a child process has a copy */
    const char *folder = getenv("TMPDIR");
    const uint32_t place = this_place();
    char name[64];
    if (!folder || !*folder) folder = "/tmp";
    const long self = (long)getpid();
    if (atomic_exchange(&tidied_by, self) != self) tidy(folder, place);
    snprintf(name, sizeof name, name_format, self, (unsigned)place);
    int n = snprintf(path, SL_TEMPORARY_FOLDER_BYTES, "%s/%s" RANDOM_PART, folder, name);
    if (n >= SL_TEMPORARY_FOLDER_BYTES) return ENAMETOOLONG;
    return mkdtemp(path) ? 0 : errno;
}
