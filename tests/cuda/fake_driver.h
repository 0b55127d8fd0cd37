/* fake_driver.h - what fake_driver.c has seen: the driver's part for custom kernels. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

enum { FAKE_ARGS = 8 };

typedef struct fake_driver_state {
    /* Seen. */
    int loaded, unloaded, function_loads;
    int launches, cooperative_launches;
    unsigned grid[3], block[3], shared_bytes; /* of the latest launch */
    uint64_t args[FAKE_ARGS];
    int dynamic_bytes; /* what cuFuncSetAttribute has permitted */
    char name[256];    /* that cuLibraryGetKernel was asked for */
    uint64_t word_at;  /* of the latest value that a stream wrote or waits for */
    uint32_t word;
    unsigned word_flags;
    /* Told. */
    int n_args;     /* how many the launched kernel has */
    int load_error; /* CUresult of cuLibraryLoadData */
    int static_bytes, local_bytes, registers;
} fake_driver_state;

extern fake_driver_state fake_driver;

#endif
