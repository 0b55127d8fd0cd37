/* chip.h - kernels on the SMs of a simulated GPU: what a launch needs of them, who has what, and
 * who comes next.
 */
#ifndef SIM_CHIP_H
#define SIM_CHIP_H

#include "../backend.h"
#include "heap.h"

typedef struct sim_device sim_device;
typedef struct sim_op sim_op;
typedef struct sim_cohort sim_cohort;
typedef struct sim_wave sim_wave;
typedef struct sim_group sim_group;

typedef struct sim_fifo {
    sim_op *head, *tail;
} sim_fifo; /* linked by sim_op.fifo_next */

void sim_fifo_push(sim_fifo *fifo, sim_op *op);
sim_op *sim_fifo_pop(sim_fifo *fifo);

/* How a kernel uses the chip. */
typedef struct sim_launch {
    int64_t blocks;        /* to place */
    uint32_t grid;         /* as reported in the timeline */
    int32_t threads;       /* per block, in whole warps */
    int32_t registers;     /* per block */
    int64_t shared_bytes;  /* per block, including what CUDA takes for itself */
    int64_t split_bytes;   /* that an SM needs as shared memory */
    int32_t taken;         /* registers that an SM gives a block (sim_chip_complete) */
    sim_ps block_ps;       /* a block's time when nothing slows it */
    double sm_share;       /* of an SM's issue slots, per block */
    double memory_share;   /* of the device memory's bandwidth, per block */
    sim_ps tail_ps;        /* after the last block */
    int32_t cluster;       /* blocks that come to one GPC together; 0: they come one by one */
    int32_t tiles;         /* of a persistent kernel: that a block takes one after the other */
    bool blocks_are_tiles; /* of a persistent kernel */
    bool tensor;           /* a product on tensor cores */
    bool shares_known;     /* its shares are its own, not those of the profile's formulas */
    bool keeps_time;       /* it takes its time, whatever is beside it */
    int64_t reduce_blocks; /* of a second kernel, which adds up partial sums; 0: none */
    sim_ps reduce_block_ps;
    /* On an idle chip (sim_rates_alone): how many blocks fill it, and how many come last, or 0
     * where nobody has asked; at which rates. 0: not all of them run at one rate. */
    int64_t full, rest;
    double full_rate, rest_rate;
} sim_launch;

/* What is known of a work; launch.threads is 0 where the launch is not. */
typedef struct sim_known_launch {
    sl_work work;
    double warm; /* of which the launch is */
    sim_launch launch;
} sim_known_launch;

enum { SIM_LAUNCHES = 256 }; /* a power of 2 */

/* A row of SMs in the same state. */
struct sim_group {
    int32_t sms;
    int32_t free_threads, free_blocks, free_registers; /* per SM */
    int64_t free_shared, split_bytes;                  /* split: shared memory in all */
    double share;                                      /* sum of the residents' sm_share, per SM */
    sim_cohort *cohorts;                               /* residents, the latest first */
    bool stale;         /* since its rates were set, what they depend on has changed */
    bool unmerged;      /* since its neighbours were last looked at, it has changed */
    int64_t room, plan; /* scratch of one placement */
};

/* Blocks of one kernel that were placed at one instant, and run at one rate: they end together. */
struct sim_wave {
    sim_fluid fluid; /* SIM_WAVE_END */
    sim_op *op;
    sim_cohort *cohorts; /* by the order of their SMs; NULL: chip->alone */
    sim_wave *next;      /* in chip->free_waves */
};

/* Those of them on the SMs of one group. */
struct sim_cohort {
    sim_wave *wave;
    sim_cohort *wave_next;
    sim_op *op;
    sim_group *group;
    sim_cohort *prev, *next; /* in the group */
    double rate;             /* that they have, or are about to have (rates.c) */
    int32_t per_sm;
};

typedef struct sim_turn {
    sim_ps at;
    uint64_t seq;
} sim_turn; /* operation seq ended at `at` */

/* When a kernel arrived at the SMs. They are ordered by time, then by issue. */
typedef struct sim_arrival {
    sim_ps at;
    uint64_t seq;
    int32_t level;
} sim_arrival;

/* At `at` kernel `by` had its turn, though `seq`, less urgent, had arrived earlier. */
typedef struct sim_overtaking {
    sim_ps at;
    uint64_t seq, by;
} sim_overtaking;

typedef struct sim_chip {
    sim_group *groups; /* the storage: one per SM */
    sim_group **group; /* the n_groups in use, in device order, then the unused */
    int32_t n_groups;
    double memory_share; /* sum over all residents */
    sim_fifo *level;     /* execution-engine queue per priority, the most urgent last */
    int32_t n_levels;
    int32_t most_urgent;  /* no kernel waits in a level above */
    int32_t waiting;      /* kernels in all levels */
    int32_t running;      /* kernels that have started and not ended */
    sim_turn last;        /* without copy engines: which one ended last */
    sim_wave *alone;      /* all blocks of the only kernel on the SMs, in no group; or NULL */
    int64_t ahead;        /* so many portions that fill the chip end before it begins, */
    sim_ps ahead_ps;      /* each of which takes so long (alone.c) */
    sim_op *first;        /* has its turn, and no more of its blocks fit; or NULL */
    sim_op *tiled;        /* a persistent kernel that has tiles left for its blocks, or NULL */
    sim_ps same_since;    /* first since then, and no other kernel arrived or ended blocks */
    uint32_t patience;    /* waves until the next attempt at a leap (waves.c) */
    sim_op *sides;        /* of meetings that are under way, linked by sides_next (sim_comm.h) */
    double traffic_share; /* that those take of the memory's bandwidth */
    double memory_scale, tensor_scale; /* with which the rates were last set */
    double link_share[2];              /* and of the link to other GPUs: out, in */
    bool dirty;                        /* something may be placed */
    bool rates_dirty;
    sim_arrival room;          /* the kernel whose blocks last made room */
    sim_overtaking *overtaken; /* per level: the last one */
    sim_cohort *free_cohorts;
    sim_wave *free_waves;  /* for each cohort that is free or not, there is a wave */
    uint32_t live_cohorts; /* in groups */
} sim_chip;

/* chip.c */
bool sim_chip_open(sim_device *dev);
void sim_chip_close(sim_device *dev);
int32_t sim_chip_level(const sim_device *dev, int32_t priority);

/* placement.c */
void sim_chip_submit(sim_op *op);     /* a ready kernel */
void sim_chip_place(sim_device *dev); /* what waits for room on the SMs */
void sim_chip_wave_end(sim_device *dev, sim_wave *wave);
void sim_chip_kernel_end(sim_op *op);
void sim_chip_again(sim_op *op);      /* its second kernel */
void sim_chip_end_blocks(sim_op *op); /* of a kernel without a time of its own */

/* alone.c */
/* As many of its blocks as can. False: they do not run at one rate, or there is no memory. */
bool sim_alone_place(sim_device *dev, sim_op *op);
void sim_alone_end(sim_chip *chip); /* its blocks have ended; no other kernel waits */
/* For who looks at what chip->alone leaves in its queue and its channel: no portion is placed that
 * has not begun. `settles`: what ends at this instant may not have been settled. */
void sim_alone_unfold(sim_device *dev, bool settles);

/* turns.c, for GPUs without copy engines */
bool sim_chip_goes_first(const sim_device *dev,
                         const sim_op *copy); /* a kernel runs, or came earlier */
/* The copy that runs, or came earlier than the kernel; NULL: none. */
const sim_op *sim_copies_go_first(const sim_device *dev, const sim_op *kernel);

/* rates.c */
void sim_rates_set(sim_device *dev); /* of all blocks but those of collectives */
/* For a kernel that has the chip for itself. */
void sim_rates_alone(const sim_device *dev, sim_launch *launch);

/* groups.c */
/* Blocks of `launch` that fit on one idle SM; 0: never. */
int64_t sim_chip_blocks_per_sm(const sim_device *dev, const sim_launch *launch);
int64_t sim_chip_room(const sim_device *dev,
                      const sim_launch *launch); /* as sim_group_room, idle */
/* What an SM gives a block: the last part of a launch's description. */
void sim_chip_complete(const sim_device *dev, sim_launch *launch);
int64_t sim_group_room(const sim_group *group, const sim_launch *launch); /* now, on each SM */
/* So many are there from the beginning: a kernel that is alone may need them later. */
enum { SIM_ALONE_COHORTS = 2 };
bool sim_cohorts_open(sim_chip *chip);
sim_wave *sim_wave_new(sim_device *dev, sim_op *op); /* without cohorts; NULL: out of memory */
/* The same for a part of its cohorts, which go to it: there are fewer waves than cohorts. */
sim_wave *sim_wave_copy(sim_device *dev, const sim_wave *wave);
void sim_wave_free(sim_chip *chip, sim_wave *wave);
/* Those of the wave on the SMs of the group, behind `after` in the wave (NULL: first), and first in
 * the group's list. NULL: out of memory. */
sim_cohort *sim_cohort_new(sim_device *dev, sim_wave *wave, sim_cohort *after, sim_group *group);
/* Out of its wave, and its group's list. */
void sim_cohort_free(sim_chip *chip, sim_cohort *cohort);
void sim_cohort_move(sim_cohort *cohort, sim_wave *to); /* to be the last there */
/* Puts it first in its group's list. */
void sim_cohort_renew(sim_cohort *cohort);
/* Takes the resources of so many blocks on each SM of the group; below 0: gives them back. Those
 * that are there are in its list, and no others. */
void sim_group_charge(sim_group *group, const sim_launch *launch, int32_t n);
sim_group *sim_group_split(sim_device *dev, int32_t index, int32_t sms);
void sim_groups_merge(sim_device *dev);
bool sim_groups_are_merged(const sim_chip *chip); /* no two neighbours are alike */

/* waves.c */
/* With so many left behind those that run, they may be skipped. */
enum { SIM_MANY_WAVES = 4096 };
/* Called before the loop takes the next event: skips waves of blocks that are like the last one. */
void sim_waves_leap(sim_device *dev);

#endif
