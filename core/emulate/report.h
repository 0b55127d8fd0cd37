/* report.h - what went wrong in a kernel: written by the process that runs it, read by the one that
 * waits for it. */
#ifndef SL_EMULATE_REPORT_H
#define SL_EMULATE_REPORT_H

#include <stdatomic.h>

#include "../backend.h"

typedef struct emu_report { /* in memory that all processes of a launch share */
    _Atomic uint64_t next_block;
    _Atomic int started; /* processes, */
    _Atomic int ended;   /* and those that found no block left to run */
    _Atomic int claimed; /* the first process that fails sets it, and writes the rest */
    sl_status status;
    uint64_t block;  /* the number of the one that ran */
    int line;        /* of the kernel's file; 0: not known */
    uint64_t pcs[2]; /* or what code did it, from which its line comes; 0: not known */
    char text[400];
} emu_report;

/* In a process of a launch, before it runs anything. */
void emu_report_open(emu_report *report);

/* Which block runs from now on. */
void emu_report_block(uint64_t number);

/* Ends the process. The first one that does so is what the launch fails with. `line`: 0 if it is
 * not known. */
_Noreturn __attribute__((format(printf, 2, 3))) void emu_fail(int line, const char *format, ...);
/* The same, of the machine's memory instead of the kernel: the launch is not to blame. */
_Noreturn __attribute__((format(printf, 1, 2))) void emu_fail_memory(const char *what, ...);
/* As emu_fail, where the code's addresses are known: of what did it, and of what else had a part
 * in it (NULL: nothing). The text has '\1' and '\2' where " in line 12" is put for them. */
_Noreturn __attribute__((format(printf, 3, 4))) void emu_fail_at(const void *pc, const void *other,
                                                                 const char *format, ...);

#endif
