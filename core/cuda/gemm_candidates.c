/* gemm_candidates.c - what a shape can be multiplied by: the algorithms of cublasLt that are worth
 * measuring.
 *
 * They are what the heuristic offers, the same algorithms with every other size of tile and number
 * of stages that they have, and each offer with its sums split among more blocks (split-K). The
 * heuristic does not offer all of them, and the fastest is often one of the others. All compute in
 * the type that the plan says. Of those that split sums only the ones are candidates that add the
 * parts up in a step of its own, in the compute type: then no rounding to a narrower type and no
 * order of blocks is in the result.
 */
#include "gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEURISTICS = 32,  /* that cublasLt is asked for */
    LEAST_TERMS = 16, /* of a sum's part */
    MOST_TILED = 256, /* algorithms of tensor cores have hundreds of tiles and stages */
    MOST_IDS = 1024   /* of tiles, or of stages; cublasLt 13 has 600 and 40 */
};
static const int32_t splits[] = { 2, 3, 4, 6, 8, 12, 16, 32 };
enum { SPLITS = sizeof splits / sizeof *splits, MOST = HEURISTICS * (1 + SPLITS) + 1 + MOST_TILED };

typedef struct collector {
    const cuda_gemm *gemm;
    const lt_tuning *lt;
    const gemm_plan *plan;
    size_t workspace_bytes; /* that there is */
    cublasLtMatmulHeuristicResult_t found[HEURISTICS];
    int n_found;
    lt_candidates *to;
} collector;

/* Parts in the output's own type are rounded, unless that is the compute type. */
static bool keeps_precision(const collector *c, const cublasLtMatmulAlgo_t *algo)
{
    const uint8_t dtype = c->plan->key.dtype;
    switch (cuda_plan_config(c->lt, algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)) {
    case CUBLASLT_REDUCTION_SCHEME_NONE:
    case CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE: return true;
    case CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE: return dtype == SL_FLOAT32 || dtype == SL_FLOAT64;
    default: return false;
    }
}

/* Unless there is one like it already, or it needs a workspace that there is no memory for. */
static void add(collector *c, const cublasLtMatmulAlgo_t *algo, size_t workspace_bytes)
{
    lt_candidates *to = c->to;
    if (workspace_bytes > c->workspace_bytes) return;
    for (int i = 0; i < to->n; i++)
        if (memcmp(&to->list[i].algo, algo, sizeof *algo) == 0) return;
    to->list[to->n] = (lt_candidate){
        .algo = *algo,
        .workspace_bytes = workspace_bytes,
        .order = to->n,
        .in_use = memcmp(&c->plan->algo, algo, sizeof *algo) == 0,
        .is_split = cuda_plan_config(c->lt, algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) > 1,
        .us = INFINITY,
    };
    to->n++;
}

typedef struct setting {
    cublasLtMatmulAlgoConfigAttributes_t attribute;
    int32_t value;
} setting;

/* `algo`, if cublasLt can compute the product with those settings. */
static void add_with(collector *c, cublasLtMatmulAlgo_t algo, const setting *settings, size_t n)
{
    size_t bytes;
    for (size_t i = 0; i < n; i++)
        if (c->lt->MatmulAlgoConfigSetAttribute(&algo, settings[i].attribute, &settings[i].value,
                                                sizeof settings[i].value))
            return;
    if (cuda_plan_check(c->gemm, c->lt, c->plan, &algo, &bytes)) add(c, &algo, bytes);
}

/* ---- tiles and stages ---- */

static size_t list_ids(const collector *c, const cublasLtMatmulAlgo_t *algo,
                       cublasLtMatmulAlgoCapAttributes_t attribute, uint32_t ids[MOST_IDS])
{
    size_t bytes = 0;
    if (c->lt->MatmulAlgoCapGetAttribute(algo, attribute, ids, MOST_IDS * sizeof *ids, &bytes))
        return 0;
    return bytes / sizeof *ids;
}

static void add_tiled(collector *c, const cublasLtMatmulAlgo_t *algo, int most)
{
    uint32_t tiles[MOST_IDS], stages[MOST_IDS];
    const size_t n_tiles = list_ids(c, algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles);
    const size_t n_stages = list_ids(c, algo, CUBLASLT_ALGO_CAP_STAGES_IDS, stages);
    for (size_t i = 0; i < n_tiles; i++)
        for (size_t j = 0; j < n_stages && c->to->n < most; j++) {
            const setting settings[] = {
                { CUBLASLT_ALGO_CONFIG_TILE_ID, (int32_t)tiles[i] },
                { CUBLASLT_ALGO_CONFIG_STAGES_ID, (int32_t)stages[j] },
                { CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 1 },
                { CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, CUBLASLT_REDUCTION_SCHEME_NONE },
                { CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 0 },
            };
            add_with(c, *algo, settings, sizeof settings / sizeof *settings);
        }
}

static int32_t id_of(const collector *c, int i)
{
    return cuda_plan_config(c->lt, &c->found[i].algo, CUBLASLT_ALGO_CONFIG_ID);
}

static bool is_first_of_its_id(const collector *c, int i)
{
    for (int earlier = 0; earlier < i; earlier++)
        if (id_of(c, earlier) == id_of(c, i)) return false;
    return true;
}

/* ---- split sums ---- */

static void add_split(collector *c, const cublasLtMatmulAlgo_t *algo)
{
    for (size_t i = 0; i < SPLITS; i++) {
        const setting settings[] = {
            { CUBLASLT_ALGO_CONFIG_SPLITK_NUM, splits[i] },
            { CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE },
        };
        if (c->plan->key.k / splits[i] >= LEAST_TERMS)
            add_with(c, *algo, settings, sizeof settings / sizeof *settings);
    }
}

/* ---- all ---- */

/* Split sums come last, since large products, of which only the first candidates are measured, have
 * blocks enough. */
static void collect(collector *c)
{
    for (int i = 0; i < c->n_found; i++)
        if (keeps_precision(c, &c->found[i].algo))
            add(c, &c->found[i].algo, c->found[i].workspaceSize);
    add(c, &c->plan->algo, c->plan->workspace_bytes);
    const int most = c->to->n + MOST_TILED;
    for (int i = 0; i < c->n_found; i++)
        if (is_first_of_its_id(c, i)) add_tiled(c, &c->found[i].algo, most);
    for (int i = 0; i < c->n_found; i++)
        add_split(c, &c->found[i].algo);
}

sl_status cuda_gemm_candidates(cuda_device *dev, const lt_tuning *lt, const gemm_plan *plan,
                               size_t workspace_bytes, lt_candidates *to, sl_error *err)
{
    const char *call = NULL;
    collector c = {
        .gemm = dev->gemm, .lt = lt, .plan = plan, .workspace_bytes = workspace_bytes, .to = to
    };
    *to = (lt_candidates){ calloc(MOST, sizeof *to->list), 0 };
    if (!to->list) return sl__no_memory(err, "candidates of matmul");
    cublasStatus_t code = cuda_plan_candidates(dev->gemm, plan, HEURISTICS, c.found, &c.n_found,
                                               &call);
    if (code) return cuda_lt_fail(dev, &dev->gemm->lt, code, call, &plan->key, err);
    collect(&c);
    return SL_OK;
}
