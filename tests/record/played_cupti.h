/* played_cupti.h - what a played program tells played_cupti.c. */
#ifndef PLAYED_CUPTI_H
#define PLAYED_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of CUDA 13, which older headers do not number. */
enum { PLAYED_LAUNCH_13 = 505, PLAYED_SYNCHRONIZE_13 = 800 };

/* A call of a function, on the thread that makes it. */
typedef struct played_call {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    uint32_t correlation;
    const void *parameters;
    int result;    /* what it returns */
    uint64_t data; /* which its two callbacks share */
} played_call;

typedef struct played_cupti {
    /* A record of that many bytes, if its kind is enabled. */
    void (*add)(const void *record, size_t bytes);
    void (*deliver)(void);  /* hands over what is in the buffer, as CUPTI does when it is full */
    void (*drop)(size_t n); /* says that so many records had no room */
    void (*interrupt)(int signal); /* raises it where no buffer can be handed over meanwhile */
    bool (*records)(void);         /* whether kernels are recorded now */
    /* A call begins, and ends, where CUPTI's clock shows that: its callback, if it is enabled. */
    void (*enter)(played_call *call, uint64_t ns);
    void (*leave)(played_call *call, uint64_t ns);
    /* A stream (of its number) or a context is about to be destroyed. */
    void (*destroy)(CUpti_CallbackIdResource what, uintptr_t handle);
    void (*hold)(bool on);             /* flushes wait until it is off, as CUPTI's may take long */
    void (*set_clock)(uint64_t ns);    /* what CUPTI's clock shows from now on */
    void (*move_streams)(uint32_t by); /* streams have numbers larger by that from now on */
} played_cupti;

extern played_cupti played; /* of the shared object */

#endif
