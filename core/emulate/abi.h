/* abi.h - what a compiled kernel and the program that runs it know of each other. Part of the text
 * that is compiled with every kernel as well: C and C++, without other headers. */
#ifndef SL_EMULATE_ABI_H
#define SL_EMULATE_ABI_H

#define EMU_ABI 1

typedef struct emu_launch {
    unsigned grid[3], block[3];
    const void *const *args; /* of each argument, where its value is */
} emu_launch;

/* What a compiled kernel gives; it exports a function emu_image_entry that returns it. */
typedef struct emu_entry {
    unsigned abi;
    void (*launch)(const emu_launch *launch);
    /* Before run_threads, for each block. */
    void (*begin_block)(const unsigned block[3]);
    /* Runs the threads of the block that have not begun. */
    void (*run_threads)(void);
    void (*get_thread)(unsigned thread[3]); /* the one that runs */
} emu_entry;

#endif
