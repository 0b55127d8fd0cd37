/* nvrtc_headers.h - the headers of C that a kernel may name, which NVRTC lacks. */
#ifndef SL_CUDA_NVRTC_HEADERS_H
#define SL_CUDA_NVRTC_HEADERS_H

enum { CUDA_NVRTC_HEADERS = 20 };

extern const char *const cuda_nvrtc_header_names[CUDA_NVRTC_HEADERS];
extern const char *const cuda_nvrtc_header_texts[CUDA_NVRTC_HEADERS];

#endif
