/* fake_cublaslt.h - what a test tells fake_cublaslt.c to do, and what that has seen.
 * The shared object has one variable of this type, `fake_cublaslt`. */
#ifndef FAKE_CUBLASLT_H
#define FAKE_CUBLASLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_CANDIDATES = 8 }; /* that a test can tell apart */

typedef struct fake_cublaslt_state {
    /* Seen. */
    int live;                 /* objects created and not destroyed */
    int heuristics, matmuls;  /* calls */
    int calls;                /* of functions that can fail */
    uint64_t preferred_bytes; /* the largest workspace that the latest heuristic allowed */
    uint32_t promised_bytes;  /* and the smallest alignment that it was promised */
    uint32_t promised[4];     /* and that of each matrix */
    int wanted;               /* and how many candidates it was asked for */
    uint32_t bias_aligned; /* and what the bias's address was a multiple of, at most 256; 0: none */
    /* Of the latest matmul. */
    int compute_type; /* cublasComputeType_t */
    int candidate;    /* of its algorithm, from 0 */
    int epilogue;     /* cublasLtEpilogue_t */
    int split;        /* parts of a sum */
    int tile;
    double clock_us; /* what all products have taken */
    void *workspace, *stream, *result;
    const void *right; /* the operand that is our first one, and its ends */
    float right_first, right_last;
    size_t workspace_bytes;
    /* Told. */
    int fail_at;           /* this call fails (`calls` counts them); 0: none */
    int also_fail;         /* and so many after it */
    int fail_code;         /* with this cublasStatus_t */
    int candidates;        /* how many the heuristic finds */
    int bad_candidates;    /* of them the first ones that cannot be used */
    size_t need_bytes;     /* the workspace of the candidates after those */
    size_t bad_need_bytes; /* and of the bad ones; 0: they are bad by their state */
    /* What a candidate is like, by its number: what a product takes, 0 for 10; the code that it is
     * refused with; whether its results differ from run to run; how it adds up parts. */
    double us[FAKE_CANDIDATES];
    int refused[FAKE_CANDIDATES];
    bool unsteady[FAKE_CANDIDATES];
    int scheme[FAKE_CANDIDATES];        /* cublasLtReductionScheme_t */
    int offered_split[FAKE_CANDIDATES]; /* into how many parts; 0: one */
    uint64_t most_split;                /* the most parts that a sum can have */
    double split_us;                    /* what such a product takes; 0: as the candidate */
    uint64_t split_need_bytes;          /* the workspace of each part */
    int tiles, stages;                  /* how many ids of these each algorithm has: 0, 1, ... */
    int most_tile;                      /* the last one of them that can be used; 0: all */
    double
        tile_us[FAKE_CANDIDATES]; /* what a product takes with a tile from 1 on, and 1 us for each
                                      * stage; 0: as the candidate */
    int newer;                    /* by which the library's version is */
    bool computes_nothing;        /* as with PLAYED_AT_ONCE=1 */
    uint32_t most_aligned;        /* no algorithm where more is promised; 0: that is no matter */
} fake_cublaslt_state;

#endif
