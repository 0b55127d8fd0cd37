/* value_reduced.c - reducing the values of several ranks, element by element. */
#include <string.h>

#include "../numbers/elements.h"
#include "interrupt_flag.h"
#include "value_node.h"

enum { ELEMS = SIM_REDUCED_PIECE, MOST_ELEMENT_BYTES = 8 };

/* ---- whole numbers wrap around in their size ---- */

static int64_t wrapped(int64_t number, sl_dtype dtype)
{
    return dtype == SL_UINT8 ? (int64_t)(uint8_t)number : (int64_t)(int32_t)(uint32_t)number;
}

static int64_t whole_at(const void *data, size_t i, sl_dtype dtype)
{
    int32_t number;
    if (dtype == SL_UINT8) return ((const uint8_t *)data)[i];
    memcpy(&number, (const char *)data + i * sizeof number, sizeof number);
    return number;
}

static void store_whole(void *data, size_t i, sl_dtype dtype, int64_t number)
{
    const int32_t narrow = (int32_t)number;
    if (dtype == SL_UINT8)
        ((uint8_t *)data)[i] = (uint8_t)number;
    else
        memcpy((char *)data + i * sizeof narrow, &narrow, sizeof narrow);
}

static int64_t reduce_whole(sl_reduction reduction, int64_t a, int64_t b)
{
    switch (reduction) {
    case SL_PROD: return a * b;
    case SL_MAX: return a > b ? a : b;
    case SL_MIN: return a < b ? a : b;
    case SL_SUM:
    case SL_AVG:
    case SL_REDUCTIONS: break;
    }
    return a + b;
}

/* ---- floating point ---- */

static double reduce_real(sl_reduction reduction, double a, double b)
{
    switch (reduction) {
    case SL_PROD: return a * b;
    case SL_MAX: return a > b || a != a ? a : b;
    case SL_MIN: return a < b || a != a ? a : b;
    case SL_SUM:
    case SL_AVG:
    case SL_REDUCTIONS: break;
    }
    return a + b;
}

/* ---- a piece ---- */

typedef struct piece {
    double real[ELEMS];
    int64_t whole[ELEMS];
    uint8_t read[ELEMS * MOST_ELEMENT_BYTES];
} piece;

static bool is_whole(sl_dtype dtype) { return dtype == SL_INT32 || dtype == SL_UINT8; }

/* Takes the elements of rank `rank` in, which are in p->read. */
static void take(const sim_reduced *r, piece *p, int rank, size_t n)
{
    double next[ELEMS];
    if (!is_whole(r->dtype)) numbers_widen(next, p->read, r->dtype, 0, n);
    for (size_t i = 0; i < n && is_whole(r->dtype); i++) {
        const int64_t number = whole_at(p->read, i, r->dtype);
        p->whole[i] = rank ? wrapped(reduce_whole(r->reduction, p->whole[i], number), r->dtype)
                           : number;
    }
    for (size_t i = 0; i < n && !is_whole(r->dtype); i++) {
        const double sum = rank ? reduce_real(r->reduction, p->real[i], next[i]) : next[i];
        p->real[i] = r->dtype == SL_FLOAT64 ? sum : (double)(float)sum;
    }
}

static void leave(const sim_reduced *r, piece *p, size_t n, uint8_t *to)
{
    const int divisor = r->reduction == SL_AVG ? r->n : 1;
    for (size_t i = 0; i < n && is_whole(r->dtype); i++)
        store_whole(to, i, r->dtype, p->whole[i] / divisor);
    if (is_whole(r->dtype)) return;
    for (size_t i = 0; i < n && divisor > 1; i++)
        p->real[i] /= divisor;
    numbers_narrow(to, p->real, r->dtype, 0, n);
}

bool sim_reduced_piece(const sim_reduced *r, size_t offset, size_t bytes, uint8_t *to)
{
    const size_t n = bytes / numbers_dtype_bytes(r->dtype);
    piece p;
    for (int rank = 0; rank < r->n; rank++) {
        if (!sim_value_read_direct(r->in[rank], offset, bytes, p.read)) return false;
        take(r, &p, rank, n);
    }
    leave(r, &p, n, to);
    return true;
}

uint8_t *sim_reduced_compute(const sim_value *value, bool *interrupted)
{
    enum { ASK = 128 };
    const sim_reduced *r = value->as.reduced;
    const size_t step = SIM_REDUCED_PIECE * numbers_dtype_bytes(r->dtype);
    uint8_t *data = sim_value_new_data(value->bytes);
    size_t pieces = 0;
    for (size_t at = 0; data && at < value->bytes && !*interrupted; at += step) {
        const size_t left = value->bytes - at;
        *interrupted = (++pieces % ASK == 0 && sim_is_interrupted())
                       || !sim_reduced_piece(r, at, left < step ? left : step, data + at);
    }
    if (!*interrupted) return data;
    free(data);
    return NULL;
}
