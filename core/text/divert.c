/* divert.c - runs of a script that leave files as they are: which file stands for which. */
#define _XOPEN_SOURCE 700 /* realpath, strdup */

#include "divert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diversion.h"
#include "scratch_files.h"

static sl_diversion *current; /* NULL: no run has begun */
static unsigned n_diversions;

/* ---- files that have been written --------------------------------------------------------- */

/* What stands for a file: a number of a scratch file, or one of these. */
enum { GONE = 0, AS_IT_IS = -1 };

typedef struct written {
    struct written *next;
    long before; /* of the first run */
    long now;    /* in the run that has begun; AS_IT_IS: as before */
    char path[]; /* absolute, without symbolic links */
} written;

static char *absolute(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole) return whole;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    const char *in = real ? real : folder;
    if (in && (whole = malloc(strlen(in) + strlen(name) + 2)))
        sprintf(whole, "%s/%s", strcmp(in, "/") == 0 ? "" : in, name);
    free(real);
    free(folder);
    return whole;
}

/* The entry of an absolute path, a new one if there is none; NULL: out of memory. */
static written *entry_of(const char *path)
{
    written *e = current->written;
    while (e && strcmp(e->path, path) != 0)
        e = e->next;
    const size_t n = strlen(path) + 1;
    if (e || !(e = malloc(sizeof *e + n))) return e;
    *e = (written){ .next = current->written, .before = AS_IT_IS, .now = AS_IT_IS };
    memcpy(e->path, path, n);
    current->written = e;
    return e;
}

static written *entry_at(const char *path)
{
    char *whole = absolute(path);
    written *e = whole ? entry_of(whole) : NULL;
    free(whole);
    return e;
}

static void remove_scratch(long number) { sl__scratch_remove(number > 0 ? (unsigned)number : 0); }

/* ---- the first run -------------------------------------------------------------------------- */

/* Keeps a copy of what the file is, unless one is kept. */
static int note(const char *path)
{
    struct stat info;
    unsigned number;
    written *e = entry_at(path);
    if (!e) return ENOMEM;
    if (e->before != AS_IT_IS) return 0;
    if (stat(path, &info) != 0) {
        e->before = GONE;
        return 0;
    }
    if (!S_ISREG(info.st_mode)) return 0;
    const int error = sl__scratch_copy(path, &number);
    if (error == 0) e->before = number;
    return error;
}

/* ---- diverted ones -------------------------------------------------------------------------- */

static long stand_in(const written *e) { return e->now != AS_IT_IS ? e->now : e->before; }

static bool is_there(const written *e)
{
    const long number = stand_in(e);
    return number == AS_IT_IS ? access(e->path, F_OK) == 0 : number != GONE;
}

/* Where its bytes are. */
static const char *path_of(const written *e)
{
    if (stand_in(e) <= 0) return e->path;
    sl__scratch_path((unsigned)stand_in(e), current->path);
    return current->path;
}

/* Whether the file could be written, were this run the first one. */
static int try_to_write(const written *e)
{
    if (stand_in(e) > 0) return 0;
    if (stand_in(e) == AS_IT_IS && access(e->path, F_OK) == 0)
        return access(e->path, W_OK) == 0 ? 0 : errno;
    char folder[SL__SCRATCH_PATH * 14]; /* PATH_MAX */
    const size_t n = (size_t)(strrchr(e->path, '/') - e->path);
    if (n >= sizeof folder) return ENAMETOOLONG;
    memcpy(folder, e->path, n);
    memcpy(folder + n, n ? "" : "/", n ? 1 : 2);
    return access(folder, W_OK) == 0 ? 0 : errno;
}

/* From now on a file of this run stands for it, with the same bytes if `keeps`. */
static int replace(written *e, bool keeps)
{
    unsigned number;
    if (e->now > 0) return 0;
    const int error = keeps && is_there(e) ? sl__scratch_copy(path_of(e), &number)
                                           : sl__scratch_make(&number);
    if (error == 0) e->now = number;
    return error;
}

static int open_diverted(const char *path, sl_file_use use, const char **instead)
{
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return 0; /* to open it fails, or reads nothing */
    if (exists && !S_ISREG(info.st_mode)) {
        if (use != SL_FILE_READ) *instead = "/dev/null";
        return 0;
    }
    written *e = entry_at(path);
    if (!e) return ENOMEM;
    if (!is_there(e) && use <= SL_FILE_CHANGE) return ENOENT;
    int error = use == SL_FILE_READ ? 0 : try_to_write(e);
    if (error == 0 && use != SL_FILE_READ) error = replace(e, use != SL_FILE_REPLACE);
    if (error == 0 && stand_in(e) > 0) *instead = path_of(e);
    return error;
}

/* ---- for those who open files -------------------------------------------------------- */

int sl_divert_open(const char *path, sl_file_use use, const char **instead)
{
    *instead = path;
    if (!current) return 0;
    if (current->diverted) return open_diverted(path, use, instead);
    return use == SL_FILE_READ ? 0 : note(path);
}

bool sl_divert_remove(const char *path, int *error)
{
    if (!current) return false;
    if (!current->diverted) {
        *error = note(path);
        return *error != 0;
    }
    written *e = entry_at(path);
    *error = !e ? ENOMEM : !is_there(e) ? ENOENT : 0;
    if (*error != 0) return true;
    remove_scratch(e->now);
    e->now = GONE;
    return true;
}

bool sl_divert_rename(const char *from, const char *to, int *error)
{
    if (!current) return false;
    if (!current->diverted) {
        *error = note(from);
        if (*error == 0) *error = note(to);
        return *error != 0;
    }
    struct stat info;
    written *e = entry_at(from), *f = entry_at(to);
    *error = !e || !f ? ENOMEM : !is_there(e) ? ENOENT : 0;
    if (*error == 0 && stand_in(e) == AS_IT_IS && stat(e->path, &info) == 0
        && !S_ISREG(info.st_mode))
        *error = EPERM; /* what lies in a folder keeps its path */
    if (*error == 0) *error = try_to_write(f);
    if (*error == 0 && e != f) *error = replace(e, true);
    if (*error != 0 || e == f) return true;
    remove_scratch(f->now);
    f->now = e->now;
    e->now = GONE;
    return true;
}

/* ---- runs ---------------------------------------------------------------------------- */

sl_diversion *sl_diversion_new(void)
{
    sl_diversion *d = calloc(1, sizeof *d);
    n_diversions += d != NULL;
    return d;
}

static void forget_run(sl_diversion *d)
{
    for (written *e = d->written; e; e = e->next) {
        remove_scratch(e->now);
        e->now = AS_IT_IS;
    }
}

void sl_diversion_free(sl_diversion *d)
{
    if (!d) return;
    if (current == d) current = NULL;
    forget_run(d);
    for (written *e = d->written, *next; e; e = next) {
        next = e->next;
        remove_scratch(e->before);
        free(e);
    }
    sl__answers_free(d);
    free(d);
    if (--n_diversions == 0) sl__scratch_remove_all();
}

void sl_divert_begin(sl_diversion *d, bool diverted)
{
    current = d;
    d->diverted = diverted;
    sl__answers_begin(d);
}

void sl_divert_end(void)
{
    if (current && current->diverted) forget_run(current);
    current = NULL;
}

bool sl_divert_is_on(void) { return current != NULL; }

bool sl_divert_is_diverted(void) { return current && current->diverted; }

int sl_divert_command(const char *command, const char **output, int *status)
{
    return sl__answers_get(current, command, output, status);
}

void sl_divert_abandon(void) { sl__scratch_remove_all(); }
