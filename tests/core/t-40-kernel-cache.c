/* t-40-kernel-cache.c - core/custom/cache.c: what is kept is found again, whole and by its own key
 * alone, and the folder stays small and the user's. */
#define _GNU_SOURCE /* mkdtemp */
#include "../../core/base.h"
#include "../../core/custom/cache.h"
#include "fake_backend.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[200], folder[400];
static bool damaged; /* what the latest find said */

static void remove_all(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    if (*home && system(command) != 0) diag("%s is left", home);
}

static void keep(const char *key, const char *text)
{
    char copy[200];
    snprintf(copy, sizeof copy, "%s", text);
    sl__cache_keep(SL_CACHE_KERNELS, key, strlen(key), &(sl_image){ copy, strlen(copy) });
}

/* "": it is not there. */
static const char *find(const char *key)
{
    static char text[200];
    sl_image image = { NULL, 0 };
    if (!sl__cache_find(SL_CACHE_KERNELS, key, strlen(key), &image, &damaged)) return "";
    snprintf(text, sizeof text, "%.*s", (int)image.bytes, (const char *)image.data);
    free(image.data);
    return text;
}

static const char *path_of(const char *key)
{
    static char path[500];
    snprintf(path, sizeof path, "%s/%016llx", folder,
             (unsigned long long)sl__hash(SL__HASH_START, key, strlen(key)));
    return path;
}

static int count_files(void)
{
    DIR *dir = opendir(folder);
    int n = 0;
    if (!dir) return -1;
    for (const struct dirent *at; (at = readdir(dir));)
        n += at->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* The bytes of a file; 0: there is none. */
static size_t load(const char *path, char bytes[1000])
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, 1000, f) : 0;
    if (f) fclose(f);
    return n;
}

static void store(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f) return;
    fwrite(bytes, 1, n, f);
    fclose(f);
}

static void test_kept(void)
{
    struct stat stat_of;
    is_str(find("one"), "", "nothing is there at first");
    keep("one", "the first image");
    is_str(find("one"), "the first image", "what was kept is found");
    is_str(find("two"), "", "by no other key");
    keep("one", "another");
    is_str(find("one"), "another", "a later one takes its place");
    is_int(count_files(), 1, "and nothing else is left in the folder");
    ok(stat(folder, &stat_of) == 0 && (stat_of.st_mode & 0777) == 0700,
       "the folder is the user's alone");
    ok(stat(path_of("one"), &stat_of) == 0 && (stat_of.st_mode & 0777) == 0600, "and so are files");
}

/* Every file that is cut off, and every one with a bit changed. */
static void test_damage(void)
{
    char bytes[1000], wrong[1000];
    const char *path = path_of("one");
    const size_t n = load(path, bytes);
    int found = 0;
    ok(n > 10, "the file is there");
    for (size_t cut = 0; cut < n; cut++) {
        store(path, bytes, cut);
        found += *find("one") != '\0';
    }
    is_int(found, 0, "a file that is cut off anywhere is not there");
    for (size_t bit = 0; bit < 8 * n; bit++) {
        memcpy(wrong, bytes, n);
        wrong[bit / 8] ^= (char)(1 << bit % 8);
        store(path, wrong, n);
        found += *find("one") != '\0';
    }
    is_int(found, 0, "nor one in which any bit is wrong");
    memcpy(wrong, bytes, n);
    wrong[n] = 'x';
    store(path, wrong, n + 1);
    is_str(find("one"), "", "nor one that is too long");
    store(path, bytes, n);
    is_str(find("one"), "another", "the right bytes are");
}

/* The file of another key under this one's name, as if both had the same hash. */
static void test_collision(void)
{
    char bytes[1000];
    size_t n;
    keep("two", "the second");
    n = load(path_of("two"), bytes);
    store(path_of("one"), bytes, n);
    is_str(find("one"), "", "a file with another key is not there");
    is_str(find("two"), "the second", "that key's own is");
}

static void test_foreign(void)
{
    char elsewhere[300];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", home);
    if (rename(path_of("two"), elsewhere) != 0 || symlink(elsewhere, path_of("two")) != 0)
        diag("no link");
    is_str(find("two"), "", "a link is not followed");
    unlink(path_of("two"));
    mkfifo(path_of("two"), 0600);
    is_str(find("two"), "", "a pipe is not waited for");
    unlink(path_of("two"));
    keep("two", "the second");
    chmod(folder, 0770);
    is_str(find("two"), "", "a folder that others can write to is not read");
    chmod(folder, 0700);
    unlink(elsewhere);
    rename(folder, elsewhere);
    if (symlink(elsewhere, folder) != 0) diag("no link");
    is_str(find("two"), "", "nor one behind a link");
    unlink(folder);
    rename(elsewhere, folder);
    is_str(find("two"), "the second", "its own folder is");
}

static void test_limits(void)
{
    char key[20], stale[600];
    const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
    snprintf(stale, sizeof stale, "%s.1.0.tmp", path_of("two"));
    store(stale, "half", 4);
    utimensat(AT_FDCWD, stale, old, 0);
    for (int i = 0; i < 300; i++) {
        const struct timespec used[2] = { { 2000 + i, 0 }, { 2000 + i, 0 } };
        snprintf(key, sizeof key, "key %d", i);
        keep(key, key);
        if (i < 299) utimensat(AT_FDCWD, path_of(key), used, 0);
    }
    is_int(count_files(), 256, "256 files are kept");
    is_str(find("key 10"), "", "the oldest are gone");
    is_str(find("key 299"), "key 299", "the latest is there");
    is_str(find("key 60"), "key 60", "and those before it");
    keep("one more", "image");
    is_str(find("key 60"), "key 60", "what was just used is not the next to go");
    ok(access(stale, F_OK) != 0, "what nobody will finish is removed");
}

static void test_off(void)
{
    setenv("STREAMLAB_CACHE", "none", 1);
    is_str(find("key 299"), "", "\"none\" switches the cache off");
    keep("off", "image");
    setenv("STREAMLAB_CACHE", "/proc/nowhere", 1);
    keep("off", "image");
    is_str(find("off"), "", "a folder that cannot be is no error");
    unsetenv("STREAMLAB_CACHE");
    setenv("XDG_CACHE_HOME", home, 1);
    is_str(find("key 299"), "key 299", "$XDG_CACHE_HOME/streamlab is next");
    is_str(find("off"), "", "and nothing was kept while it was off");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    keep("at home", "image");
    snprintf(folder, sizeof folder, "%s/.cache/streamlab/kernels", home);
    is_int(count_files(), 1, "then ~/.cache/streamlab");
}

int main(void)
{
    char cache[300];
    const char *tmp = getenv("TMPDIR");
    plan(30);
    snprintf(home, sizeof home, "%.150s/kernel-cache-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(home)) return 1;
    atexit(remove_all);
    snprintf(cache, sizeof cache, "%s/streamlab", home);
    snprintf(folder, sizeof folder, "%s/kernels", cache);
    setenv("STREAMLAB_CACHE", cache, 1);
    test_kept();
    test_damage();
    test_collision();
    test_foreign();
    test_limits();
    test_off();
    return done_testing();
}
