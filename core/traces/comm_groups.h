/* comm_groups.h - the communicators of a timeline, and which parts of its ranks belong together. */
#ifndef SL_TRACES_COMM_GROUPS_H
#define SL_TRACES_COMM_GROUPS_H

#include "../timeline/timeline.h"

typedef struct sl__comm_group {
    uint64_t comm;
    int n;
    int *ranks; /* of the file, by rank of the communicator */
} sl__comm_group;

/* A collective, or a send with its receive, some of whose parts have not come yet. */
typedef struct sl__meeting {
    const sl_collective_note *first;
    int missing;
    uint32_t tag;
} sl__meeting;

typedef struct sl__comm_groups {
    int *rank_of; /* by place of a device */
    sl__comm_group *at;
    size_t n, cap;
    sl__meeting *open;
    size_t n_open, cap_open;
    uint32_t last_tag;
} sl__comm_groups;

/* SL_EUNSUPPORTED: the timeline has only a part of a communicator's ranks. On failure there is
 * something to free, too. */
sl_status sl__comm_groups_find(const sl_timeline *timeline, const char *what,
                               sl__comm_groups *groups, sl_error *err);
void sl__comm_groups_free(sl__comm_groups *groups);

/* The communicator of a note. */
const sl__comm_group *sl__comm_group_of(const sl__comm_groups *groups,
                                        const sl_collective_note *note);

/* The tag that all parts of one collective have. SL_ENOMEM. */
sl_status sl__comm_groups_tag(sl__comm_groups *groups, const sl_collective_note *note,
                              uint32_t *tag, sl_error *err);
/* SL_EUNSUPPORTED: a part of a collective has not come. */
sl_status sl__comm_groups_check(const sl__comm_groups *groups, const char *what, sl_error *err);

#endif
