/* macros.h - what CUDA's compiler defines, so that a source which asks for it finds a GPU's. */
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __maxnreg__(...)
/* A macro is not expanded in its own text. */
#define __noinline__ __attribute__((__noinline__))
