/* load.c - a timeline of whatever a path leads to: a trace, a report of Nsight Systems, a spool, or
 * a folder of spools. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/divert.h"
#include "../text/infile.h"
#include "nsys_read.h"
#include "spool_file.h"
#include "spool_read.h"
#include "sqlite_file.h"
#include "traces.h"

/* ---- folders ---- */

typedef struct paths {
    char **at;
    size_t n, cap;
} paths;

static void free_paths(paths *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->at[i]);
    free(list->at);
}

static sl_status add_path(paths *list, const char *folder, const char *name, sl_error *err)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name);
    if (n < 0 || (size_t)n >= sizeof path || (*name && !sl__is_spool(path))) return SL_OK;
    if (list->n == SL__MOST_SPOOLS)
        return sl_fail(err, SL_EINVAL, "it has more than %d recordings", SL__MOST_SPOOLS);
    char *copy = SL__GROW(list->at, list->cap, list->n + 1) ? strdup(path) : NULL;
    if (!copy) return sl__no_memory(err, "the recordings of a folder");
    list->at[list->n++] = copy;
    return SL_OK;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static sl_status list_folder(paths *list, const char *path, DIR *folder, sl_error *err)
{
    sl_status status = SL_OK;
    for (const struct dirent *entry; status == SL_OK && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') status = add_path(list, path, entry->d_name, err);
    if (list->n > 1) qsort(list->at, list->n, sizeof *list->at, by_name);
    return status;
}

/* ---- recordings ---- */

/* Of one without operations: why. */
static sl_status refuse_empty(const sl__records *records, sl_error *err)
{
    static const sl_doubt_kind reasons[] = { SL_DOUBT_ENDS_EARLY, SL_DOUBT_CUT_OFF };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const sl__doubted *why = &records->doubted[reasons[i]];
        if (why->n > 0 && why->what.len > 0)
            return sl_fail(err, SL_EINVAL, "it has no operations: %.300s", why->what.data);
    }
    return sl_fail(err, SL_EINVAL,
                   records->nsys ? "it is a database without operations of CUDA: nsys profile "
                                   "--trace=cuda records them, and nsys export --type sqlite "
                                   "makes a database of the report"
                                 : "it has no operations: the program gave the GPU nothing "
                                   "to do while it was recorded");
}

static sl_status read_list(sl__spools *all, const paths *list, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < list->n && status == SL_OK; i++)
        status = sl__is_sqlite(list->at[i]) ? sl__nsys_read(all, list->at[i], err)
                                            : sl__spool_read(all, list->at[i], err);
    if (status == SL_OK && all->records.n_works == 0) return refuse_empty(&all->records, err);
    return status == SL_OK ? sl__records_match(&all->records, err) : status;
}

static sl_status load_list(const paths *list, int device, sl_timeline **timeline, sl_error *err)
{
    sl__spools all = { .records = { .wall_ns = -1, .wanted_device = device, .recorded = true },
                       .several = list->n > 1 };
    sl_status status = sl_timeline_create(&all.records.timeline, err);
    if (status == SL_OK) status = read_list(&all, list, err);
    if (status == SL_OK)
        *timeline = all.records.timeline;
    else
        sl_timeline_release(all.records.timeline);
    sl__records_free(&all.records);
    return status;
}

static sl_status load_recording(const char *path, const paths *list, int device,
                                sl_timeline **timeline, sl_error *err)
{
    sl_error why;
    sl_status status = load_list(list, device, timeline, &why);
    const bool is_named = status == SL_OK && *sl_timeline_name(*timeline) != '\0';
    if (status == SL_OK && (!is_named || strcmp(list->at[0], path) != 0)) /* a folder is named */
        sl_timeline_set_name(*timeline, sl__infile_name(path), NULL);
    if (status == SL_OK) return SL_OK;
    return status == SL_EINVAL || status == SL_ENOTFOUND
               ? sl_fail(err, status, "'%.100s': %s", path, why.msg)
               : sl_fail(err, status, "%s", why.msg);
}

sl_status sl_timeline_load(const char *path, int device, sl_timeline **timeline, sl_error *err)
{
    paths list = { 0 };
    const char *instead;
    DIR *folder = sl_divert_open(path, SL_FILE_READ, &instead) == 0 ? opendir(instead) : NULL;
    sl_status status = SL_OK;
    if (folder)
        status = list_folder(&list, path, folder, err);
    else if (sl__is_spool(path) || sl__is_sqlite(path))
        status = add_path(&list, path, "", err);
    if (folder) closedir(folder);
    if (status == SL_OK && folder && list.n == 0)
        status = sl_fail(err, SL_EINVAL,
                         "'%.150s': the folder has no recording: streamlab record --spools writes "
                         "files into one",
                         path);
    if (status == SL_OK)
        status = list.n > 0 ? load_recording(path, &list, device, timeline, err)
                            : sl_timeline_load_kineto(path, device, timeline, err);
    free_paths(&list);
    return status;
}
