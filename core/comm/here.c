/* here.c - which rank this process is, and how it finds the others: launchers of processes give
 * rank and size in the environment, and a file that all of them see carries the id. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ranks.h"

/* ---- the environment ---- */

static const struct {
    const char *rank, *size;
} launchers[] = {
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
    { "PMI_RANK", "PMI_SIZE" },
    { "SLURM_PROCID", "SLURM_NTASKS" },
    { "RANK", "WORLD_SIZE" },
};

static sl_status read_number(const char *name, int *number, sl_error *err)
{
    const char *text = getenv(name);
    char *end;
    if (!text) return sl_fail(err, SL_EINVAL, "%s is not set", name);
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 0 || value > SL_MOST_RANKS)
        return sl_fail(err, SL_EINVAL, "%s is \"%.40s\": it should be a number", name, text);
    *number = (int)value;
    return SL_OK;
}

sl_status sl_comm_rank_here(int *rank, int *size, sl_error *err)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (!getenv(launchers[i].rank)) continue;
        sl_status status = read_number(launchers[i].rank, rank, err);
        return status != SL_OK ? status : read_number(launchers[i].size, size, err);
    }
    return sl_fail(err, SL_ENOTFOUND,
                   "neither Slurm nor MPI nor torchrun has started this process (SLURM_PROCID, "
                   "OMPI_COMM_WORLD_RANK, PMI_RANK and RANK are not set): give rank and size");
}

/* ---- the file ---- */

typedef struct note { /* what the file has */
    char magic[17];
    sl_comm_id id;
} note;
static const char magic[] = "streamlab comm 1";

static sl_status io_error(const char *what, const char *path, sl_error *err)
{
    return sl_fail(err, SL_EIO, "%s %.200s: %s", what, path, strerror(errno));
}

/* Whole or not at all: nobody reads half of it. */
static sl_status write_id(const char *path, const sl_comm_id *id, sl_error *err)
{
    note written = { .id = *id };
    memcpy(written.magic, magic, sizeof magic);
    return sl_files_write(&(sl_file){ path, (const char *)&written, sizeof written }, 1, err);
}

static sl_status check_leftover(const char *path, sl_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0) return SL_OK;
    return sl_fail(err, SL_EIO,
                   "%.200s is there already: remove it, or name another file for each run, as with "
                   "the number of the job",
                   path);
}

/* *found: it is there. */
static sl_status read_id(const char *path, sl_comm_id *id, bool *found, sl_error *err)
{
    note read_note;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *found = fd >= 0;
    if (fd < 0) return errno == ENOENT ? SL_OK : io_error("cannot read", path, err);
    ssize_t n = read(fd, &read_note, sizeof read_note);
    close(fd);
    if (n != sizeof read_note || memcmp(read_note.magic, magic, sizeof magic) != 0)
        return sl_fail(err, SL_EIO, "%.200s is no file that rank 0 has written", path);
    *id = read_note.id;
    return SL_OK;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Some network file systems show a new file only when its folder is read again. */
static sl_status wait_for_id(const char *path, double timeout_s, sl_comm_id *id, sl_error *err)
{
    const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
    const double end = now_s() + timeout_s;
    bool found = false;
    sl_status status = read_id(path, id, &found, err);
    while (status == SL_OK && !found) {
        status = sl_interrupt_check(err);
        if (status != SL_OK) return status;
        if (now_s() >= end)
            return sl_fail(err, SL_ESTATE,
                           "rank 0 has not written %.200s in %g s: it has not started, or writes "
                           "another file, or this machine does not see its files",
                           path, timeout_s);
        nanosleep(&pause, NULL);
        status = read_id(path, id, &found, err);
    }
    return status;
}

sl_status sl_comm_join_by_file(sl_device *device, int rank, int size, const char *path,
                               double timeout_s, const sl_comm_options *options, sl_comm **comm,
                               sl_error *err)
{
    sl_comm_id id;
    sl_status status = sl__comm_check_join(device, rank, size, err);
    if (status != SL_OK) return status;
    if (rank != 0) {
        status = wait_for_id(path, timeout_s, &id, err);
    } else {
        status = sl_comm_make_id(device, &id, err);
        if (status == SL_OK) status = check_leftover(path, err);
        if (status == SL_OK) status = write_id(path, &id, err);
    }
    if (status != SL_OK) return status;
    status = sl_comm_join(device, rank, size, &id, options, comm, err);
    if (rank == 0) unlink(path);
    return status;
}
