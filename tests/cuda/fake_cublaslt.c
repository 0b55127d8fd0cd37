/* fake_cublaslt.c - a cublasLt for a machine without a GPU: a shared object in which
 * the functions that gemm*.c use multiply column-major matrices in host memory, with
 * plain loops, at once. The header's types are cublasLt's; the bytes in them are ours.
 */
#include "fake_cublaslt.h"

#include "../../core/dtype.h"

#include <cublasLt.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

fake_cublaslt_state fake_cublaslt = { .candidates = 3 };

static fake_cublaslt_state *const state = &fake_cublaslt;

__attribute__((constructor)) static void read_environment(void)
{
    state->computes_nothing = getenv("PLAYED_AT_ONCE") != NULL;
}

/* Counts a call that can fail; true if this one does. */
static bool fails(void)
{
    state->calls++;
    return state->fail_at > 0 && state->calls >= state->fail_at
           && state->calls <= state->fail_at + state->also_fail;
}

/* What is created by a call that fails is no address. */
static cublasStatus_t create(void *created, size_t bytes)
{
    void *object = fails() ? NULL : calloc(1, bytes);
    memcpy(created, object ? &object : &(void *){ (void *)1 }, sizeof object);
    if (!object) return (cublasStatus_t)state->fail_code;
    state->live++;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t destroy(void *object)
{
    state->live--;
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the objects ---- */

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) { return create(handle, 64); }

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }

const char *cublasLtGetStatusName(cublasStatus_t code)
{
    switch (code) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS of another kind";
    }
}

enum { COMPUTE, SCALE, EPILOGUE, BIAS }; /* in a descriptor's data */

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    cublasStatus_t code = create(desc, sizeof **desc);
    if (code) return code;
    (*desc)->data[COMPUTE] = compute;
    (*desc)->data[SCALE] = scale;
    (*desc)->data[EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;
    return code;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    uint32_t epilogue;
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER && bytes == sizeof(void *)) {
        memcpy(&desc->data[BIAS], value, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    if (attribute != CUBLASLT_MATMUL_DESC_EPILOGUE || bytes != sizeof epilogue)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&epilogue, value, bytes);
    desc->data[EPILOGUE] = epilogue;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy(desc); }

enum { TYPE, ROWS, COLUMNS, LEADING, COUNT, STRIDE }; /* in a layout's */

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading)
{
    cublasStatus_t code = create(layout, sizeof **layout);
    if (code) return code;
    (*layout)->data[TYPE] = type;
    (*layout)->data[ROWS] = rows;
    (*layout)->data[COLUMNS] = columns;
    (*layout)->data[LEADING] = (uint64_t)leading;
    (*layout)->data[COUNT] = 1;
    return code;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes)
{
    int32_t count;
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == sizeof(int64_t)) {
        memcpy(&layout->data[STRIDE], value, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    if (attribute != CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT || bytes != sizeof count)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&count, value, bytes);
    layout->data[COUNT] = (uint64_t)count;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    return destroy(layout);
}

enum { WORKSPACE, ALIGNMENT }; /* in a preference's; one alignment a matrix */

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *pref)
{
    cublasStatus_t code = create(pref, sizeof **pref);
    for (int i = 0; !code && i < 4; i++)
        (*pref)->data[ALIGNMENT + i] = 256;
    return code;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref)
{
    return destroy(pref);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && bytes == sizeof(uint64_t)) {
        memcpy(&pref->data[WORKSPACE], value, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    int matrix = (int)attribute - (int)CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
    uint32_t alignment;
    if (matrix < 0 || matrix > 3 || bytes != sizeof alignment) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&alignment, value, bytes);
    pref->data[ALIGNMENT + matrix] = alignment;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the heuristic ---- */

enum { MAGIC, NUMBER, NEED, SPLIT, SCHEME, TILE, STAGES, CUSTOM }; /* in an algorithm's */
static const uint64_t magic = 0x6d756c7469706c79;

static bool fit(const cublasLtMatrixLayoutOpaque_t *a, const cublasLtMatrixLayoutOpaque_t *b,
                const cublasLtMatrixLayoutOpaque_t *c)
{
    const cublasLtMatrixLayoutOpaque_t *all[] = { a, b, c };
    for (int i = 0; i < 3; i++)
        if (all[i]->data[TYPE] != a->data[TYPE] || all[i]->data[COUNT] != a->data[COUNT]
            || all[i]->data[ROWS] == 0 || all[i]->data[COLUMNS] == 0
            || all[i]->data[LEADING] < all[i]->data[ROWS])
            return false;
    return a->data[COLUMNS] == b->data[ROWS] && a->data[ROWS] == c->data[ROWS]
           && b->data[COLUMNS] == c->data[COLUMNS];
}

static void offer(cublasLtMatmulHeuristicResult_t *result, int number)
{
    bool bad = number < state->bad_candidates;
    memset(result, 0, sizeof *result);
    result->workspaceSize = bad ? state->bad_need_bytes : state->need_bytes;
    if (bad && state->bad_need_bytes == 0) result->state = CUBLAS_STATUS_NOT_SUPPORTED;
    result->algo.data[MAGIC] = magic;
    result->algo.data[NUMBER] = (uint64_t)number;
    result->algo.data[NEED] = result->workspaceSize;
    result->algo.data[SPLIT] = 1;
    if (number < FAKE_CANDIDATES && state->offered_split[number])
        result->algo.data[SPLIT] = (uint64_t)state->offered_split[number];
    result->algo.data[SCHEME] = (uint64_t)(number < FAKE_CANDIDATES ? state->scheme[number] : 0);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t pref, int wanted,
                                              cublasLtMatmulHeuristicResult_t *results, int *n)
{
    uint64_t bias = desc->data[BIAS];
    state->heuristics++;
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (!handle || wanted <= 0 || !fit(a, b, c) || !fit(a, b, d))
        return CUBLAS_STATUS_INVALID_VALUE;
    state->wanted = wanted;
    state->bias_aligned = bias % 256 == 0 && bias > 0 ? 256 : (uint32_t)(bias & -bias);
    state->preferred_bytes = pref->data[WORKSPACE];
    state->promised_bytes = UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        state->promised[i] = (uint32_t)pref->data[ALIGNMENT + i];
        if (state->promised[i] < state->promised_bytes) state->promised_bytes = state->promised[i];
    }
    *n = 0;
    if (state->most_aligned && state->promised_bytes > state->most_aligned)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (; *n < wanted && *n < state->candidates; ++*n)
        offer(&results[*n], *n);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- configurations ---- */

size_t cublasLtGetVersion(void) { return 130001 + (size_t)state->newer; }

/* The word of an algorithm that has it; -1: none. */
static int word_of(cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    switch (attribute) {
    case CUBLASLT_ALGO_CONFIG_ID: return NUMBER;
    case CUBLASLT_ALGO_CONFIG_TILE_ID: return TILE;
    case CUBLASLT_ALGO_CONFIG_STAGES_ID: return STAGES;
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION: return CUSTOM;
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM: return SPLIT;
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME: return SCHEME;
    default: return -1;
    }
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void *value, size_t bytes, size_t *written)
{
    const int word = word_of(attribute);
    if (word < 0 || bytes != sizeof(int32_t)) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(value, &(int32_t){ (int32_t)algo->data[word] }, bytes);
    *written = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    const int word = word_of(attribute);
    int32_t number;
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (word < SPLIT || bytes != sizeof number) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&number, value, bytes);
    algo->data[word] = (uint64_t)number;
    if (word == SPLIT)
        algo->data[NEED] = number > 1 ? state->split_need_bytes * (uint64_t)number : 0;
    return CUBLAS_STATUS_SUCCESS;
}

/* Tiles have the ids 0 to state->tiles - 1, stages likewise. */
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute,
                                                 void *value, size_t bytes, size_t *written)
{
    const int n = attribute == CUBLASLT_ALGO_CAP_TILE_IDS     ? state->tiles
                  : attribute == CUBLASLT_ALGO_CAP_STAGES_IDS ? state->stages
                                                              : 0;
    uint32_t *ids = value;
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (algo->data[MAGIC] != magic || bytes < (size_t)n * sizeof *ids)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int i = 0; i < n; i++)
        ids[i] = (uint32_t)i;
    *written = (size_t)n * sizeof *ids;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t *algo,
                                       cublasLtMatmulHeuristicResult_t *result)
{
    (void)desc;
    if (fails()) return (cublasStatus_t)state->fail_code;
    if (!handle || !fit(a, b, c) || !fit(a, b, d) || algo->data[MAGIC] != magic)
        return CUBLAS_STATUS_INVALID_VALUE;
    if ((algo->data[SPLIT] > 1 && state->most_split < algo->data[SPLIT])
        || (int)algo->data[NUMBER] >= state->candidates
        || (state->most_tile > 0 && (int)algo->data[TILE] > state->most_tile))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    result->state = CUBLAS_STATUS_SUCCESS;
    result->workspaceSize = algo->data[NEED];
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the product ---- */

static double duration_us(const cublasLtMatmulAlgo_t *algo)
{
    const uint64_t number = algo->data[NUMBER], tile = algo->data[TILE];
    const double us = number < FAKE_CANDIDATES && state->us[number] > 0 ? state->us[number] : 10;
    if (tile > 0 && tile < FAKE_CANDIDATES && state->tile_us[tile] > 0)
        return state->tile_us[tile] + (double)algo->data[STAGES];
    return algo->data[SPLIT] > 1 && state->split_us > 0 ? state->split_us : us;
}

/* A result that is another in each run. */
static void disturb(void *d) { *(unsigned char *)d = (unsigned char)state->matmuls; }

static sl_dtype dtype_of(const cublasLtMatrixLayoutOpaque_t *layout)
{
    switch ((cudaDataType_t)layout->data[TYPE]) {
    case CUDA_R_16BF: return SL_BFLOAT16;
    case CUDA_R_16F: return SL_FLOAT16;
    case CUDA_R_64F: return SL_FLOAT64;
    default: return SL_FLOAT32;
    }
}

/* Where matrix i of a stack begins. */
static const char *matrix_at(const cublasLtMatrixLayoutOpaque_t *layout, const void *data,
                             uint64_t i)
{
    return (const char *)data + i * layout->data[STRIDE] * sl_dtype_bytes(dtype_of(layout));
}

static size_t place_of(const cublasLtMatrixLayoutOpaque_t *layout, uint64_t row, uint64_t column)
{
    return (size_t)(row + column * layout->data[LEADING]) * sl_dtype_bytes(dtype_of(layout));
}

static double get(const cublasLtMatrixLayoutOpaque_t *layout, const void *data, uint64_t row,
                  uint64_t column)
{
    double value;
    sl__dtype_to_double(dtype_of(layout), (const char *)data + place_of(layout, row, column), 1,
                        &value);
    return value;
}

static const void *column_at(const cublasLtMatrixLayoutOpaque_t *layout, const void *data,
                             uint64_t column)
{
    return (const char *)data + place_of(layout, 0, column);
}

/* All elements, column by column; for the caller to free. */
static double *widened(const cublasLtMatrixLayoutOpaque_t *layout, const void *data)
{
    size_t rows = layout->data[ROWS], columns = layout->data[COLUMNS];
    double *values = malloc((rows * columns + 1) * sizeof *values);
    if (!values) abort();
    for (size_t j = 0; j < columns; j++)
        sl__dtype_to_double(dtype_of(layout), column_at(layout, data, j), rows, values + j * rows);
    return values;
}

static void put_column(const cublasLtMatrixLayoutOpaque_t *layout, void *data, uint64_t column,
                       const double *values)
{
    sl__dtype_from_double(dtype_of(layout), values, layout->data[ROWS],
                          (void *)(uintptr_t)column_at(layout, data, column));
}

static void multiply(const cublasLtMatrixLayoutOpaque_t *left, const void *a,
                     const cublasLtMatrixLayoutOpaque_t *right, const void *b,
                     const cublasLtMatrixLayoutOpaque_t *product, void *d, const void *c,
                     double alpha, double beta)
{
    size_t rows = left->data[ROWS], inner = left->data[COLUMNS];
    double *of_left = widened(left, a), *of_right = widened(right, b);
    double *sums = widened(product, c);
    for (size_t j = 0; j < product->data[COLUMNS]; j++) {
        double *column = sums + j * rows;
        for (size_t i = 0; i < rows; i++) {
            double sum = 0;
            for (size_t l = 0; l < inner; l++)
                sum += of_left[l * rows + i] * of_right[j * inner + l];
            column[i] = alpha * sum + (beta != 0 ? beta * column[i] : 0);
        }
        put_column(product, d, j, column);
    }
    free(of_left);
    free(of_right);
    free(sums);
}

static double activated(double x, uint64_t epilogue)
{
    if (epilogue & CUBLASLT_EPILOGUE_RELU) x = x > 0 ? x : 0;
    if (epilogue & CUBLASLT_EPILOGUE_GELU)
        x = x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    return x;
}

/* What becomes of the product: rows are cublasLt's, each with one element of the bias. */
static void finish(const cublasLtMatmulDescOpaque_t *desc,
                   const cublasLtMatrixLayoutOpaque_t *product, void *d)
{
    const void *bias = (const void *)(uintptr_t)desc->data[BIAS];
    const uint64_t epilogue = desc->data[EPILOGUE];
    if (epilogue == CUBLASLT_EPILOGUE_DEFAULT) return;
    double *values = widened(product, d);
    for (size_t j = 0; j < product->data[COLUMNS]; j++) {
        double *column = values + j * product->data[ROWS];
        for (size_t i = 0; i < product->data[ROWS]; i++) {
            if (epilogue & CUBLASLT_EPILOGUE_BIAS) column[i] += get(product, bias, i, 0);
            column[i] = activated(column[i], epilogue);
        }
        put_column(product, d, j, column);
    }
    free(values);
}

static double scale(const void *number, bool wide)
{
    return wide ? *(const double *)number : *(const float *)number;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t left, const void *b,
                              cublasLtMatrixLayout_t right, const void *beta, const void *c,
                              cublasLtMatrixLayout_t third, void *d, cublasLtMatrixLayout_t product,
                              const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream)
{
    if (fails()) return (cublasStatus_t)state->fail_code;
    const bool wide = desc->data[COMPUTE] == CUBLAS_COMPUTE_64F;
    if (!handle || desc->data[SCALE] != (wide ? CUDA_R_64F : CUDA_R_32F)
        || wide != (dtype_of(product) == SL_FLOAT64) || !fit(left, right, product)
        || !fit(left, right, third) || algo->data[MAGIC] != magic
        || (wide && desc->data[EPILOGUE] != CUBLASLT_EPILOGUE_DEFAULT)
        || algo->data[NEED] > workspace_bytes || (workspace_bytes > 0 && !workspace))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (algo->data[NUMBER] < FAKE_CANDIDATES && state->refused[algo->data[NUMBER]])
        return (cublasStatus_t)state->refused[algo->data[NUMBER]];
    state->matmuls++;
    state->clock_us += duration_us(algo);
    state->split = (int)algo->data[SPLIT];
    state->tile = (int)algo->data[TILE];
    state->compute_type = (int)desc->data[COMPUTE];
    state->candidate = (int)algo->data[NUMBER];
    state->epilogue = (int)desc->data[EPILOGUE];
    state->workspace = workspace;
    state->workspace_bytes = workspace_bytes;
    state->stream = stream;
    state->result = d;
    state->right = b;
    if (state->computes_nothing) return CUBLAS_STATUS_SUCCESS;
    state->right_first = (float)get(right, b, 0, 0);
    state->right_last = (float)get(right, b, right->data[ROWS] - 1, right->data[COLUMNS] - 1);
    if (workspace_bytes > 0) memset(workspace, 0xff, workspace_bytes);
    for (uint64_t i = 0; i < product->data[COUNT]; i++)
        multiply(left, matrix_at(left, a, i), right, matrix_at(right, b, i), product,
                 (void *)(uintptr_t)matrix_at(product, d, i), matrix_at(third, c, i),
                 scale(alpha, wide), scale(beta, wide));
    for (uint64_t i = 0; i < product->data[COUNT]; i++)
        finish(desc, product, (void *)(uintptr_t)matrix_at(product, d, i));
    if (algo->data[NUMBER] < FAKE_CANDIDATES && state->unsteady[algo->data[NUMBER]]) disturb(d);
    return CUBLAS_STATUS_SUCCESS;
}
