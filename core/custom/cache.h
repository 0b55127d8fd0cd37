/* cache.h - what was found out with effort, kept in the user's cache folder for the next process:
 * what compilers have made of kernels, which plans of matmul are the fastest. A file holds its
 * whole key, so that two keys never share an image. Failures are no errors: then it is found out
 * again. */
#ifndef SL_CUSTOM_CACHE_H
#define SL_CUSTOM_CACHE_H

#include "../backend.h"

/* Each has a folder with limits of its own. */
typedef enum sl_cache { SL_CACHE_KERNELS, SL_CACHE_PLANS } sl_cache;

/* False: it is not there; *damaged then says whether there is a file in its place that is not what
 * was kept, or is another key's. image->data is of malloc. */
bool sl__cache_find(sl_cache cache, const char *key, size_t key_bytes, sl_image *image,
                    bool *damaged);
void sl__cache_keep(sl_cache cache, const char *key, size_t key_bytes, const sl_image *image);

#endif
