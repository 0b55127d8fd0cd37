/* abi.h - what a compiled kernel and the program that runs it know of each other. Part of the text
 * that is compiled with every kernel as well: C and C++, without
 * other headers than stdarg.h and stddef.h. */
#ifndef SL_EMULATE_ABI_H
#define SL_EMULATE_ABI_H

#include <stdarg.h>
#include <stddef.h>

#define EMU_ABI 6

/* What lanes of a warp do together. Each gets a result of its own. */
enum emu_warp_op {
    EMU_WARP_SYNC,    /* nothing */
    EMU_WARP_SHUFFLE, /* the value of the lane that it names */
    EMU_WARP_BALLOT,  /* the lanes whose value is not 0 */
    EMU_WARP_MATCH,   /* the lanes with the same value as its own */
    EMU_WARP_ACTIVE   /* the lanes that are here */
};

/* What an access is, in the checked build. */
enum emu_access {
    EMU_READ = 1,
    EMU_WRITE = 2,
    EMU_ATOMIC = 4,
    EMU_VOLATILE = 8,
    EMU_PACKED = 16 /* need not be aligned to its size */
};

/* What the program does for a kernel. `line` is the one of the source that calls, for reports. */
typedef struct emu_host {
    /* Waits for all threads of the block; gives in how many of them `predicate` is not 0. */
    unsigned (*barrier)(int predicate, int line);
    /* Waits for the lanes of the mask. */
    unsigned long long (*warp)(int op, unsigned mask, unsigned long long value, int lane, int line);
    /* The same, and gives all values; of lanes that are not in the mask 0. */
    void (*gather)(unsigned mask, unsigned long long value, unsigned long long values[32],
                   int line);
    /* Waits for all blocks. */
    void (*grid_barrier)(int line);
    /* Ends the launch: `what` a thread did. Does not return. */
    void (*trap)(const char *what, int line);
    int (*is_shared)(const void *address); /* in shared memory */
    /* In the checked build: an access that follows, by the code in front of `pc`. */
    void (*access)(const void *address, size_t bytes, int kind, const void *pc);
    /* What the thread wrote is to be seen before what it writes from now on. */
    void (*fence)(void);
    /* An access that follows, of a type that is aligned differently. */
    void (*misaligned)(const void *address, size_t alignment, const char *file, unsigned line);
    void *(*move)(void *to, const void *from, size_t n);    /* memmove */
    void *(*fill)(void *to, int value, size_t n);           /* memset */
    int (*compare)(const void *a, const void *b, size_t n); /* memcmp */
    void (*sincos)(double x, double *sine, double *cosine);
    void (*sincosf)(float x, float *sine, float *cosine);
    int (*print)(const char *format, va_list values); /* to the standard output */
} emu_host;

typedef struct emu_launch {
    unsigned grid[3], block[3];
    const void *const *args; /* of each argument, where its value is */
    const emu_host *host;
} emu_launch;

/* What a compiled kernel gives; it exports a function emu_image_entry that returns it. */
typedef struct emu_entry {
    unsigned abi;
    void (*launch)(const emu_launch *launch);
    /* Sets the block that runs. `fresh`: none of its threads have begun; else all have. */
    void (*begin_block)(const unsigned block[3], int fresh);
    /* So many blocks shall run behind this one. */
    void (*follow)(unsigned blocks);
    /* Runs the threads of the block that have not begun, and then the blocks that follow. When a
     * thread waits, this is called again, on another stack. */
    void (*run_threads)(void);
    /* The block that runs. No other follows it from now on; gives how many would have. */
    unsigned (*stay)(unsigned block[3]);
    void (*get_thread)(unsigned thread[3]); /* the one that runs */
    void (*set_thread)(const unsigned thread[3]);
} emu_entry;

#endif
