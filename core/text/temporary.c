/* temporary.c - the files that are written beside what they are to replace. */
#define _XOPEN_SOURCE 700 /* openat, unlinkat, O_NOFOLLOW */

#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "divert.h"
#include "file.h"

#define NAME_BYTES 64  /* of a temporary file, without its folder */
#define MOST_NAMES 100 /* that are tried */
#define MOST_KNOWN 64  /* the next writer removes the others */

static const char name_format[] = "streamlab-%ld-%d.tmp";

size_t sl__folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* ---- those of this process --------------------------------------------------- */

/* A signal handler reaches nothing but globals. */
static _Atomic(char *) unfinished[MOST_KNOWN];
static atomic_long owner; /* the process that made them: a child process has a copy of this
                                 * list */

static void remember(char *path)
{
    long self = (long)getpid();
    if (atomic_exchange(&owner, self) != self) {
        for (int i = 0; i < MOST_KNOWN; i++)
            atomic_store(&unfinished[i], NULL);
    }
    for (int i = 0; i < MOST_KNOWN; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&unfinished[i], &none, path)) return;
    }
}

void sl__temporary_forget(char *path)
{
    for (int i = 0; path && i < MOST_KNOWN; i++) {
        char *same = path;
        if (atomic_compare_exchange_strong(&unfinished[i], &same, NULL)) break;
    }
    free(path);
}

void sl_files_abandon(void)
{
    int error = errno;
    bool is_owner = atomic_load(&owner) == (long)getpid();
    for (int i = 0; is_owner && i < MOST_KNOWN; i++) {
        char *path = atomic_load(&unfinished[i]);
        if (path) unlink(path);
    }
    sl_divert_abandon();
    errno = error;
}

/* ---- those of processes that have ended -------------------------------------- */

/* Whether a name is one of ours, of a process that this system does not have. */
static bool is_left_behind(const char *name)
{
    long pid;
    int n;
    char again[NAME_BYTES];
    if (sscanf(name, name_format, &pid, &n) != 2 || pid <= 0) return false;
    snprintf(again, sizeof again, name_format, pid, n);
    return strcmp(name, again) == 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Its writer holds this lock, also one on another machine or in another container, whose
 * process cannot be seen here. Where there are no locks, nothing is removed. */
static bool lock(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(fd, F_SETLK, &whole) == 0;
}

static void remove_left_behind(int folder, const char *name)
{
    struct stat info;
    int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    bool is_ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid()
                   && info.st_nlink == 1;
    if (is_ours && lock(fd)) unlinkat(folder, name, 0);
    close(fd);
}

/* Once for files that come one after the other: a class has thousands in one folder. */
static bool is_last_tidied(int folder)
{
    static dev_t device;
    static ino_t inode;
    struct stat info;
    if (fstat(folder, &info) != 0) return true;
    bool same = info.st_dev == device && info.st_ino == inode;
    device = info.st_dev;
    inode = info.st_ino;
    return same;
}

static void tidy(const char *folder)
{
    DIR *names = opendir(folder);
    if (!names) return;
    bool done = is_last_tidied(dirfd(names));
    for (const struct dirent *entry; !done && (entry = readdir(names));) {
        if (is_left_behind(entry->d_name)) remove_left_behind(dirfd(names), entry->d_name);
    }
    closedir(names);
}

/* ---- a new one --------------------------------------------------------------- */

/* A short name, since the target's own may be as long as names can be. The process's number
 * keeps two writers apart; a name that is taken is skipped. `path` has room behind its
 * folder. 0, or an errno. */
static int open_new(char *path, size_t folder, int *fd)
{
    int error = EEXIST;
    for (int i = 0; i < MOST_NAMES && error == EEXIST; i++) {
        snprintf(path + folder, NAME_BYTES, name_format, (long)getpid(), i);
        *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = *fd >= 0 ? 0 : errno;
    }
    return error;
}

int sl__temporary_make(const char *target, char **path, int *fd)
{
    size_t folder = sl__folder_bytes(target);
    char *made = malloc(folder + NAME_BYTES);
    if (!made) return ENOMEM;
    memcpy(made, target, folder);
    made[folder] = '\0';
    tidy(folder > 0 ? made : ".");
    int error = open_new(made, folder, fd);
    if (error != 0) {
        free(made);
        return error;
    }
    remember(made);
    (void)lock(*fd);
    *path = made;
    return 0;
}
