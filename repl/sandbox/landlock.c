/* landlock.c - which files this process can open. The calls have no functions in C libraries, and
 * headers know only the rights of their own time, so both are written down here: Linux,
 * include/uapi/linux/landlock.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, O_PATH */
#endif
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_BENEATH = 1 };

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    FIRST_VERSION = (1 << 13) - 1, /* all rights of version 1 */
    TRUNCATE = 1 << 14,            /* of version 3 */
};

typedef struct rights {
    uint64_t files;
    uint64_t network; /* from version 4 on: bind, connect */
    uint64_t scoped;  /* from 6 on: abstract sockets, signals */
} rights;

typedef struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed)) beneath;

static long version(void) { return syscall(CREATE_RULESET, NULL, 0, ASK_VERSION); }

bool landlock_is_here(void) { return version() > 0; }

static rights all_rights(long of_version, size_t *bytes)
{
    rights all = { .files = FIRST_VERSION };
    if (of_version >= 2) all.files |= 1 << 13;
    if (of_version >= 3) all.files |= TRUNCATE;
    if (of_version >= 5) all.files |= 1 << 15;
    if (of_version >= 4) all.network = 3;
    if (of_version >= 6) all.scoped = 3;
    *bytes = of_version >= 6   ? sizeof all
             : of_version >= 4 ? offsetof(rights, scoped)
                               : offsetof(rights, network);
    return all;
}

/* What is not there needs no rule. */
static bool allow(int ruleset, const char *path, uint64_t files)
{
    enum { OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE };
    struct stat info;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR;
    if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) files &= OF_FILES;
    beneath rule = { .allowed = files, .parent = fd };
    bool fine = syscall(ADD_RULE, ruleset, RULE_BENEATH, &rule, 0) == 0;
    close(fd);
    return fine;
}

static bool allow_system(int ruleset)
{
    static const char *const folders[] = { "/usr", "/lib", "/lib32",     "/lib64",       "/bin",
                                           "/etc", "/opt", "/nix/store", "/proc/cpuinfo" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!allow(ruleset, folders[i], EXECUTE | READ_FILE | READ_FOLDER)) return false;
    return allow(ruleset, "/dev/null", READ_FILE | WRITE_FILE)
           && allow(ruleset, "/dev/urandom", READ_FILE);
}

const char *landlock_confine(const char *folder, const char *also)
{
    size_t bytes;
    long of_version = version();
    if (of_version <= 0) return "this system has no Landlock";
    rights all = all_rights(of_version, &bytes);
    int ruleset = (int)syscall(CREATE_RULESET, &all, bytes, 0);
    if (ruleset < 0) return strerror(errno);
    bool fine = allow_system(ruleset) && allow(ruleset, folder, all.files)
                && (!also || allow(ruleset, also, EXECUTE | READ_FILE | READ_FOLDER))
                && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && syscall(RESTRICT_SELF, ruleset, 0) == 0;
    const char *why = fine ? NULL : strerror(errno);
    close(ruleset);
    return why;
}

#else

bool landlock_is_here(void) { return false; }

const char *landlock_confine(const char *folder, const char *also)
{
    (void)folder, (void)also;
    return "this system has no Landlock";
}

#endif
