/* cache.c - files in the user's cache folder.
 *
 * A file is written under another name and renamed, so that readers find all of it or nothing. What
 * is read may be cut off, older or somebody's invention: lengths are believed only if they are the
 * file's, and key and checksum are compared.
 */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base.h"
#include "../text/file.h"

enum {
    MOST_FILES = 256,
    MOST_ENTRIES = 1024, /* of the folder that are looked at */
    NAME_BYTES = 64,
    STALE_S = 3600 /* an unfinished file that old has no writer */
};
static const uint64_t most_bytes = (uint64_t)256 << 20, most_file_bytes = (uint64_t)64 << 20;

typedef struct head {
    char magic[8];
    uint64_t version, key_bytes, image_bytes, checksum;
} head;
static const char magic[8] = "slkernel";
enum { VERSION = 1 };

static head head_of(const char *key, size_t key_bytes, const sl_image *image)
{
    head h = { .version = VERSION, .key_bytes = key_bytes, .image_bytes = image->bytes };
    memcpy(h.magic, magic, sizeof magic);
    h.checksum = sl__checksum(SL__HASH_START, key, key_bytes);
    h.checksum = sl__checksum(h.checksum, image->data, image->bytes);
    return h;
}

/* ---- the folder ---- */

static const char *const folders[] = { [SL_CACHE_KERNELS] = "kernels", [SL_CACHE_PLANS] = "plans" };

/* False: there is none, or the user wants none. */
static bool folder_path(sl_cache which, char path[PATH_MAX])
{
    const char *own = getenv("STREAMLAB_CACHE"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int n;
    if (geteuid() != getuid() || (own && strcmp(own, "none") == 0)) return false;
    if (own && *own)
        n = snprintf(path, PATH_MAX, "%s/%s", own, folders[which]);
    else if (cache && *cache == '/')
        n = snprintf(path, PATH_MAX, "%s/streamlab/%s", cache, folders[which]);
    else if (home && *home == '/')
        n = snprintf(path, PATH_MAX, "%s/.cache/streamlab/%s", home, folders[which]);
    else
        return false;
    return n < PATH_MAX;
}

/* A descriptor of the folder; -1: there is none, or others can write there. */
static int open_folder(sl_cache which, bool make)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    char path[PATH_MAX];
    struct stat stat;
    if (!folder_path(which, path)) return -1;
    int fd = open(path, flags);
    if (fd < 0 && make && errno == ENOENT) {
        sl_make_folders_above(path);
        mkdir(path, 0700);
        fd = open(path, flags);
    }
    if (fd < 0) return -1;
    if (fstat(fd, &stat) == 0 && stat.st_uid == geteuid() && !(stat.st_mode & 022)) return fd;
    close(fd);
    return -1;
}

static void name_of(const char *key, size_t key_bytes, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%016llx",
             (unsigned long long)sl__hash(SL__HASH_START, key, key_bytes));
}

/* ---- reading ---- */

/* Whether the file, of that size, begins as one of this key does; moves to its image. */
static bool read_head(int fd, uint64_t file_bytes, const char *key, size_t key_bytes, head *h)
{
    if (file_bytes < sizeof *h || file_bytes > most_file_bytes
        || !sl__read_all(fd, h, sizeof *h, NULL))
        return false;
    if (memcmp(h->magic, magic, sizeof magic) != 0 || h->version != VERSION
        || h->key_bytes != key_bytes || h->image_bytes == 0 || h->image_bytes > most_file_bytes
        || file_bytes != sizeof *h + key_bytes + h->image_bytes)
        return false;
    char *found = malloc(key_bytes + 1);
    bool same = found && sl__read_all(fd, found, key_bytes, NULL)
                && memcmp(found, key, key_bytes) == 0;
    free(found);
    return same;
}

static bool read_image(int fd, const char *key, size_t key_bytes, sl_image *image)
{
    struct stat stat;
    head h, wanted;
    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid()
        || !read_head(fd, (uint64_t)stat.st_size, key, key_bytes, &h))
        return false;
    image->data = malloc(h.image_bytes);
    image->bytes = h.image_bytes;
    if (!image->data) return false;
    if (sl__read_all(fd, image->data, image->bytes, NULL)) {
        wanted = head_of(key, key_bytes, image);
        if (wanted.checksum == h.checksum) return true;
    }
    free(image->data);
    return false;
}

bool sl__cache_find(sl_cache which, const char *key, size_t key_bytes, sl_image *image,
                    bool *damaged)
{
    sl_image found = { NULL, 0 };
    char name[NAME_BYTES];
    int folder = open_folder(which, false), fd;
    *damaged = false;
    if (folder < 0) return false;
    name_of(key, key_bytes, name);
    fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(folder);
    if (fd < 0) return false;
    bool is_there = read_image(fd, key, key_bytes, &found);
    if (is_there) futimens(fd, NULL); /* used now: among the last to go */
    close(fd);
    if (is_there) *image = found;
    *damaged = !is_there;
    return is_there;
}

/* ---- writing ---- */

static void write_file(int folder, const char *key, size_t key_bytes, const sl_image *image)
{
    static atomic_uint n_written;
    const head h = head_of(key, key_bytes, image);
    char name[NAME_BYTES], temporary[NAME_BYTES];
    name_of(key, key_bytes, name);
    snprintf(temporary, sizeof temporary, "%.16s.%ld.%u.tmp", name, (long)getpid(),
             atomic_fetch_add(&n_written, 1));
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return;
    bool whole = sl__write_all(fd, &h, sizeof h, NULL) && sl__write_all(fd, key, key_bytes, NULL)
                 && sl__write_all(fd, image->data, image->bytes, NULL);
    whole = close(fd) == 0 && whole;
    if (!whole || renameat(folder, temporary, folder, name) != 0) unlinkat(folder, temporary, 0);
}

/* ---- keeping it small ---- */

typedef struct entry {
    char name[NAME_BYTES];
    uint64_t bytes;
    struct timespec used;
} entry;

/* 16 hexadecimal digits, or such a name with more behind a dot, which is unfinished. */
static bool is_ours(const char *name, bool *unfinished)
{
    size_t digits = strspn(name, "0123456789abcdef"), n = strlen(name);
    *unfinished = name[digits] == '.' && n > 4 && strcmp(name + n - 4, ".tmp") == 0;
    return digits == 16 && n < NAME_BYTES && (*unfinished || !name[digits]);
}

/* Fills `e` of a file that is in the cache; removes one that nobody will finish. */
static bool look_at(int folder, const char *name, entry *e)
{
    struct stat stat;
    bool unfinished;
    if (!is_ours(name, &unfinished) || fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (unfinished) {
        if (stat.st_mtim.tv_sec + STALE_S < time(NULL)) unlinkat(folder, name, 0);
        return false;
    }
    snprintf(e->name, sizeof e->name, "%s", name);
    e->bytes = (uint64_t)stat.st_size;
    e->used = stat.st_mtim;
    return true;
}

SL__ORDER(latest_first, entry, SL__DOWN(x->used.tv_sec), SL__DOWN(x->used.tv_nsec));

static size_t list(int folder, entry *entries)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *at;
    size_t n = 0;
    if (!dir) {
        if (fd >= 0) close(fd);
        return 0;
    }
    while (n < MOST_ENTRIES && (at = readdir(dir)))
        n += look_at(folder, at->d_name, &entries[n]);
    closedir(dir);
    return n;
}

/* Those that were not used for the longest time go. */
static void prune(int folder)
{
    entry *entries = malloc(MOST_ENTRIES * sizeof *entries);
    uint64_t bytes = 0;
    if (!entries) return;
    size_t n = list(folder, entries);
    qsort(entries, n, sizeof *entries, latest_first);
    for (size_t i = 0; i < n; i++) {
        bytes += entries[i].bytes;
        if (i >= MOST_FILES || bytes > most_bytes) unlinkat(folder, entries[i].name, 0);
    }
    free(entries);
}

void sl__cache_keep(sl_cache which, const char *key, size_t key_bytes, const sl_image *image)
{
    if (!image->data || image->bytes == 0 || key_bytes > most_file_bytes / 2
        || image->bytes > most_file_bytes / 2 - sizeof(head))
        return;
    int folder = open_folder(which, true);
    if (folder < 0) return;
    write_file(folder, key, key_bytes, image);
    prune(folder);
    close(folder);
}
