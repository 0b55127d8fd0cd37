/* waiting.h - threads of a block that wait, and those that can go on: what block_threads.c, warps.c
 * and stuck.c share. */
#ifndef SL_EMULATE_WAITING_H
#define SL_EMULATE_WAITING_H

#include "fiber.h"
#include "block_threads.h"

enum { EMU_MOST_THREADS = 1024, EMU_LANES = 32 };

typedef enum emu_wait_kind {
    EMU_NOT_WAITING,
    EMU_AT_BARRIER,
    EMU_AT_WARP,
    EMU_AT_GRID
} emu_wait_kind;

/* A fiber, and the thread that waits on it. */
typedef struct emu_waiter {
    emu_context context;
    struct emu_waiter *next; /* in a list */
    emu_wait_kind waits;
    unsigned thread, at[3]; /* its number, its index */
    int line;
    uint64_t result; /* of what it waited for */
    int predicate;   /* EMU_AT_BARRIER */
    int op, lane;    /* EMU_AT_WARP */
    unsigned mask;
    uint64_t value;
    unsigned long long *values; /* where a gather puts them, or NULL */
} emu_waiter;

typedef struct emu_block {
    unsigned index[3];
    uint64_t number;
    emu_waiter *waiting[EMU_MOST_THREADS]; /* those that wait, by their number */
    unsigned n_waiting;
    bool all_begun;
    char *shared; /* its shared memory while another block runs, or NULL */
} emu_block;

/* What this process runs. */
typedef struct emu_running {
    const emu_run *run;
    const emu_entry *entry;
    unsigned n_threads, size[3]; /* of a block */
    emu_block *block;
    unsigned following;  /* blocks that the image goes on to from there by itself */
    emu_waiter *running; /* the fiber */
} emu_running;
extern emu_running emu_now;

/* waiting.c */
/* Finds the block to which the image has come by itself, and lets it end there. */
void emu_stay_in_block(void);
void emu_begin_waiting(emu_wait_kind kind, int line); /* the running thread */
void emu_wait(void);                                  /* until emu_make_ready */
void emu_make_ready(emu_waiter *one);
emu_waiter *emu_first_waiting(void); /* NULL: none */
/* Lets a thread go on that is ready; false: there is none. */
bool emu_resume_ready(void);
void emu_begin_threads(void); /* lets those run that have not begun */
const char *emu_thread_text(unsigned number, char text[48]); /* "thread (1,0,0)" */

/* warps.c */
/* Lets lanes go on for which nobody is left to wait, since no other thread can go on. */
bool emu_open_any_warp(void);
const char *emu_op_name(const emu_waiter *one); /* "a shuffle" */
unsigned long long emu_warp_meets(int op, unsigned mask, unsigned long long value, int lane,
                                  int line);
void emu_warp_gathers(unsigned mask, unsigned long long value, unsigned long long values[32],
                      int line);

/* stuck.c */
/* No thread of the block can go on. */
_Noreturn void emu_report_stuck(void);

#endif
