/* libraries.cuh - NCCL and cuBLAS, opened at run time. */
#ifndef RAW_COMM_LIBRARIES_CUH
#define RAW_COMM_LIBRARIES_CUH

#include "tools.cuh"

#include <dlfcn.h>
#include <glob.h>

/* The file that the variable names, then the names, then what the patterns find. */
static void *open_library(const char *variable, const std::vector<const char *> &names,
                          const std::vector<const char *> &patterns)
{
    const char *given = getenv(variable);
    if (given) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (const char *name : names)
        if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    for (const char *pattern : patterns) {
        glob_t found;
        void *library = NULL;
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc && !library; i++)
                library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
        if (library) return library;
    }
    return NULL;
}

typedef struct ncclComm *ncclComm_t;
typedef struct nccl_id {
    char bytes[128];
} nccl_id;
typedef struct nccl_config { /* as of NCCL 2.28; an older one reads less of it */
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char *netName;
    int splitShare, trafficClass;
    const char *commName;
    int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs, nChannelsPerNetPeer, nvlinkCentricSched;
} nccl_config;
enum { NCCL_UINT8 = 1, NCCL_FLOAT32 = 7, NCCL_SUM = 0, CTA_POLICY_ZERO = 2 };

static struct nccl {
    int (*GetVersion)(int *);
    int (*GetUniqueId)(nccl_id *);
    int (*CommInitRankConfig)(ncclComm_t *, int, nccl_id, int, nccl_config *);
    int (*CommDestroy)(ncclComm_t);
    int (*GroupStart)(void);
    int (*GroupEnd)(void);
    int (*AllReduce)(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
    int (*AllGather)(const void *, void *, size_t, int, ncclComm_t, cudaStream_t);
    int (*ReduceScatter)(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
    int (*Broadcast)(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
    const char *(*GetLastError)(ncclComm_t);
} nccl;

template <class T> static bool find(void *library, const char *name, T *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol) printf("%s is missing\n", name);
    return symbol != NULL;
}

static bool open_nccl()
{
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    void *library = open_library("RAW_NCCL", { "libnccl.so.2" },
                                 { "/usr/*/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
                                   "/usr/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
                                   "/opt/*/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2" });
    if (!library) {
        printf("no NCCL: %s\n", dlerror());
        return false;
    }
    return find(library, "ncclGetVersion", &nccl.GetVersion)
           && find(library, "ncclGetUniqueId", &nccl.GetUniqueId)
           && find(library, "ncclCommInitRankConfig", &nccl.CommInitRankConfig)
           && find(library, "ncclCommDestroy", &nccl.CommDestroy)
           && find(library, "ncclGroupStart", &nccl.GroupStart)
           && find(library, "ncclGroupEnd", &nccl.GroupEnd)
           && find(library, "ncclAllReduce", &nccl.AllReduce)
           && find(library, "ncclAllGather", &nccl.AllGather)
           && find(library, "ncclReduceScatter", &nccl.ReduceScatter)
           && find(library, "ncclBroadcast", &nccl.Broadcast)
           && find(library, "ncclGetLastError", &nccl.GetLastError);
}

#define NCCL(call)                                                                   \
    do {                                                                             \
        int nccl_code = (call);                                                      \
        if (nccl_code)                                                               \
            printf("line %d: %s: NCCL's error %d: %s\n", __LINE__, #call, nccl_code, \
                   nccl.GetLastError(NULL));                                         \
    } while (0)

static struct cublas {
    int (*Create)(void **);
    int (*SetStream)(void *, cudaStream_t);
    int (*GemmEx)(void *, int, int, int, int, int, const void *, const void *, int, int,
                  const void *, int, int, const void *, void *, int, int, int, int);
    bool is_there;
} cublas;

static void open_cublas()
{
    void *library = open_library(
        "RAW_CUBLAS", { "libcublas.so.13", "libcublas.so.12" },
        { "/usr/*/lib/python3*/*-packages/nvidia/cu13/lib/libcublas.so.13",
          "/usr/*/lib/python3*/*-packages/nvidia/cublas/lib/libcublas.so.1*",
          "/usr/lib/python3*/*-packages/nvidia/cublas/lib/libcublas.so.1*" });
    if (!library) return;
    cublas.is_there = find(library, "cublasCreate_v2", &cublas.Create)
                      && find(library, "cublasSetStream_v2", &cublas.SetStream)
                      && find(library, "cublasGemmEx", &cublas.GemmEx);
}

#endif
