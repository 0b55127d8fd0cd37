/* cuda_kernel_names.h - names of kernels as people write them. Their table belongs to the process;
 * it is not for several threads at a time. Needs neither CUDA nor the backend, so that the recorder
 * of other programs uses it, too.
 */
#ifndef CUDA_KERNEL_NAMES_H
#define CUDA_KERNEL_NAMES_H

/* A mangled C++ name as "add<float, 4>", without the result's type and the parameters;
 * any other name, and every name where the process has no demangler, as it is. The result
 * lives until cuda_kernel_names_clear, or as long as `symbol` when memory is out. A symbol
 * that was asked for before costs a look-up. */
const char *cuda_kernel_name(const char *symbol);
void cuda_kernel_names_clear(void);

/* Looks for the demangler if nobody has, which takes the loader's lock: else the first name that
 * needs it does. On any thread. */
void cuda_kernel_names_prepare(void);

#endif
