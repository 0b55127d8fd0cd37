/* marks.h - what the files share that record ranges of NVTX, the marks that programs and libraries
 * set:
 *
 *   mark_calls.c   the functions that NVTX calls
 *   mark_nccl.c    what NCCL says with its ranges
 *   mark_ranges.c  ranges from their start to their end
 *   mark_names.c   what they are called
 *
 * A program may call NVTX before it uses CUDA, on any thread, thousands of times a second. So all
 * is bounded: a name that no range has is forgotten when there are too many, and ranges that have
 * ended are handed to the spool before they are many. */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "../table.h"

/* ---- mark_names.c; `nvtx_lock` is held ---- */

void nvtx_lock(void); /* guards names, and ranges */
void nvtx_unlock(void);

enum { NVTX_NAME_BYTES = 512 }; /* of a name; what is longer is cut */

typedef struct nvtx_domain nvtx_domain;          /* NULL: the one without a name */
nvtx_domain *nvtx_domain_make(const char *name); /* never freed. NULL: out of memory */
bool nvtx_domain_is(const nvtx_domain *domain, const char *name); /* also without the lock */

typedef struct nvtx_name {
    sl__entry entry;
    const nvtx_domain *domain;
    uint32_t refs;    /* it is not forgotten meanwhile */
    uint32_t number;  /* in the spool, */
    uint32_t process; /* and of which process that was, by how often it was forked, from 1; 0: it
                       * has no number */
    uint32_t length;  /* without the domain's name and ":" before it */
    char text[];
} nvtx_name;

/* Without the domain's; also without the lock, while the caller has a reference. */
const char *nvtx_name_text(const nvtx_name *name);
/* The one with this text, with one more reference. NULL: out of memory. */
nvtx_name *nvtx_name_take(const nvtx_domain *domain, const char *text);
void nvtx_name_drop(nvtx_name *name); /* a reference; NULL: nothing happens */
/* Its number in the spool, which gets the text first where it lacks it. Without the lock, while the
 * spool is the caller's. */
uint32_t nvtx_name_number(nvtx_name *name);
/* In a child that was forked, without the lock, which nobody holds from here on: names of the
 * parent stay where they are, for those who have them. */
void nvtx_names_leave(void);
/* UTF-8 of a text, cut to fit. Without the lock. */
void nvtx_narrow(char to[NVTX_NAME_BYTES], const wchar_t *text);

/* ---- mark_nccl.c, without the lock ---- */

struct nvtx_event;
/* The text of a range of that function, as in "ncclAllReduce, comm = 5f3759df, bytes = 96". False:
 * the event says no more than the function. */
bool nvtx_nccl_text(char to[NVTX_NAME_BYTES], const char *function, const struct nvtx_event *event);

/* ---- mark_ranges.c, on any thread, without the lock ---- */

/* Before all others. */
void nvtx_prepare(void);

/* Both return the level of the range in its thread and domain, from 0; -1: there is none to end.
 * What is pushed takes over the reference of the name; without one (NULL) it is not recorded. */
int nvtx_push(const nvtx_domain *domain, nvtx_name *name);
int nvtx_pop(const nvtx_domain *domain);
/* The range's number, from 1. It may end on another thread. */
uint64_t nvtx_start(nvtx_name *name);
void nvtx_end(uint64_t number);
void nvtx_mark(nvtx_name *name);

#endif
