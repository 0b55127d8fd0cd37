/* cache.h - what compilers have made of kernels, kept in the user's cache folder for the next
 * process. A file holds its whole key, so that two keys never share an image. Failures are no
 * errors: then a kernel is compiled again. */
#ifndef SL_CUSTOM_CACHE_H
#define SL_CUSTOM_CACHE_H

#include "../backend.h"

/* 64 bits of the bytes, the same on every machine (FNV-1a). */
uint64_t sl__cache_hash(const void *bytes, size_t n);

/* False: it is not there. image->data is of malloc. */
bool sl__cache_find(const char *key, size_t key_bytes, sl_image *image);
void sl__cache_keep(const char *key, size_t key_bytes, const sl_image *image);

#endif
