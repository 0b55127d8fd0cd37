/* played_calls.h - what a played program does: its calls, whose callbacks the played CUPTI calls, and
 * the records of what they run. Times are us. */
#ifndef PLAYED_CALLS_H
#define PLAYED_CALLS_H

#include "played_cupti.h"

#define BASE_NS UINT64_C(1300000000000000000)
#define US(time) (BASE_NS + (uint64_t)(time)*1000)

extern void *library;             /* which the driver would load */
extern const played_cupti *cupti; /* NULL: the library is not there */
extern int grid_x, grid_y;        /* of the next kernels */
extern volatile uint32_t *issued; /* NULL: they are not counted */

#define ADD(record, bytes)                         \
    do {                                           \
        if (cupti) cupti->add(&(record), (bytes)); \
    } while (0)

/* As cuInit does. */
void use_cuda(void);
played_call runtime_call(uint32_t cbid, uint32_t correlation);
played_call driver_launch(uint32_t correlation);
void enter(played_call *call, int at);
void leave(played_call *call, int at);
void call(uint32_t cbid, uint32_t correlation, int start, int end);

/* The handles of a stream that CUPTI gives that number, from 8 on, and of an event. */
const void *stream_of(uint32_t id);
const void *event_of(uint32_t n);
/* A call of a function with these parameters. */
void call_with(uint32_t cbid, uint32_t correlation, const void *first, const void *second,
               int start, int end);

void kernel(const char *name, uint32_t correlation, uint32_t stream, int start, int end,
            uint64_t node);
void copy(uint8_t direction, uint8_t from, uint8_t to, uint32_t correlation, uint32_t stream,
          int start, int end);
void stream(uint32_t id, CUpti_ActivityStreamFlag flag, int priority);
void device(void);

/* An allocation or a free, of which CUPTI has a record. */
void memory(CUpti_ActivityMemoryOperationType operation, CUpti_ActivityMemoryKind kind,
            uint32_t correlation, int time, uint64_t address, uint64_t bytes);

/* ---- played_orders.c ---- */

void use_orders(void);

/* ---- played_failures.c ---- */

void use_failures(void);

#endif
