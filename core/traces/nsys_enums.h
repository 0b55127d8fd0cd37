/* nsys_enums.h - what the numbers mean that a report of Nsight Systems has for kinds of things, as
 * CUPTI's numbers of them, which spools have. */
#ifndef SL_TRACES_NSYS_ENUMS_H
#define SL_TRACES_NSYS_ENUMS_H

#include "sqlite_file.h"

enum {
    SL__NSYS_NUMBERS = 32,  /* of each kind, from 0 on */
    SL__NSYS_MIGRATION = 11 /* no direction of CUPTI's: pages of managed memory move */
};

typedef struct sl__nsys_enums {
    uint8_t direction[SL__NSYS_NUMBERS]; /* CUpti_ActivityMemcpyKind */
    uint8_t memory[SL__NSYS_NUMBERS];    /* CUpti_ActivityMemoryKind */
    uint8_t sync[SL__NSYS_NUMBERS];      /* CUpti_ActivitySynchronizationType */
    uint8_t overhead[SL__NSYS_NUMBERS];  /* CUpti_ActivityOverheadKind, its upper half */
} sl__nsys_enums;

/* As documented, and where the database has tables of enumerations, as they say. SL_ENOMEM,
 * SL_EINTERRUPT. */
sl_status sl__nsys_enums_read(sl__nsys_enums *enums, sl__sqlite *db, sl_error *err);

/* 0: it is not known. */
uint8_t sl__nsys_direction(const sl__nsys_enums *enums, int64_t number);
uint8_t sl__nsys_memory(const sl__nsys_enums *enums, int64_t number);
uint8_t sl__nsys_sync(const sl__nsys_enums *enums, int64_t number);
uint32_t sl__nsys_overhead(const sl__nsys_enums *enums, int64_t number);

#endif
