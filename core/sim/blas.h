/* blas.h - C = A B in float32 and float64, by a BLAS library where there is one.
 *
 * The library is loaded on first use, so that a script that never looks at a
 * product pays nothing for it, and the program runs on machines without one.
 */
#ifndef SIM_BLAS_H
#define SIM_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* c[m,n] = a[m,k] b[k,n], row-major, dense; c is neither a nor b. Products of up
 * to 32^3 multiplications always take the plain loop, which is as fast there.
 * The environment variable STREAMLAB_BLAS is a library to load in place of the
 * usual ones, or "none" for the plain loop always. False: the user stopped it (interrupt.h). */
bool sim_blas_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c);
bool sim_blas_dgemm(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c);

/* Loads the library now, and lets it get ready. */
void sim_blas_load(void);

/* The plain loop itself. */
bool sim_plain_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c);
bool sim_plain_dgemm(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c);

#endif
