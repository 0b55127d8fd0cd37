/* played_cupti.h - what a played program tells played_cupti.c. */
#ifndef PLAYED_CUPTI_H
#define PLAYED_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct played_cupti {
    /* A record of that many bytes, if its kind is enabled, and the function whose call it is. */
    void (*add)(const void *record, size_t bytes);
    void (*deliver)(void);  /* hands over what is in the buffer, as CUPTI does when it is full */
    void (*drop)(size_t n); /* says that so many records had no room */
    void (*interrupt)(int signal); /* raises it where no buffer can be handed over meanwhile */
    bool (*records)(void);         /* whether kernels are recorded now */
    /* A call with these parameters begins: its callback, where it is enabled. */
    void (*enter)(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, uint32_t correlation,
                  const void *parameters);
    void (*set_clock)(uint64_t ns); /* what CUPTI's clock shows from now on */
} played_cupti;

extern played_cupti played; /* of the shared object */

#endif
