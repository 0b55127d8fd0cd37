/* blas.h - C = A B in float32 and float64, by a BLAS library where there is one.
 *
 * The library is loaded on first use: a script that reads no product pays nothing for it, and the
 * program runs on machines without one. OpenBLAS takes kernels for this processor also where it is
 * older than the processor.
 */
#ifndef SIM_BLAS_H
#define SIM_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* c[m,n] = a[m,k] b[k,n], row-major, dense; c is neither a nor b. Products of up to 32^3
 * multiplications always take the plain loop, which is as fast. The environment variable
 * STREAMLAB_BLAS names a library to load instead of the usual ones; "none" is the plain loop.
 * False: the user interrupted it (interrupt_flag.h). */
bool sim_blas_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c);
bool sim_blas_dgemm(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c);

/* Loads the library now and makes it allocate its memory. */
void sim_blas_load(void);

/* The plain loop itself. */
bool sim_plain_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c);
bool sim_plain_dgemm(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c);

#endif
