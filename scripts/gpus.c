/* gpus.c - prints the compute capability of each GPU that answers, as nvcc writes it (90), one a
 * line; nothing where there is no driver or no GPU. scripts/configure.sh compiles and runs it:
 * it opens the driver by name, so that it needs nothing of CUDA. */
#include <dlfcn.h>
#include <stdio.h>

/* CUdevice_attribute's COMPUTE_CAPABILITY_MAJOR and _MINOR in cuda.h. */
enum { MAJOR = 75, MINOR = 76 };

int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return 0;
    int (*init)(unsigned), (*count)(int *), (*get)(int *, int), (*ask)(int *, int, int);
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&count = dlsym(driver, "cuDeviceGetCount");
    *(void **)&get = dlsym(driver, "cuDeviceGet");
    *(void **)&ask = dlsym(driver, "cuDeviceGetAttribute");
    int gpus = 0;
    if (!init || !count || !get || !ask || init(0) != 0 || count(&gpus) != 0) return 0;
    for (int i = 0; i < gpus; i++) {
        int device, major, minor;
        if (get(&device, i) != 0) continue;
        if (ask(&major, MAJOR, device) != 0 || ask(&minor, MINOR, device) != 0) continue;
        printf("%d%d\n", major, minor);
    }
    return 0;
}
