/* python_layout.h - where CPython keeps the frames of its threads. It has functions for that, which
 * need the interpreter's lock (the GIL). PyTorch launches its kernels without that lock, and to
 * wait for it here could block the program for ever.
 */
#ifndef PYTHON_LAYOUT_H
#define PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PYTHON_FRAME_MOST = 128, /* bytes of a frame that are read */
    PYTHON_CODE_MOST = 256   /* and of a code object */
};

/* Offsets in bytes, of one release. */
typedef struct python_layout {
    uint16_t minor;           /* 12 of 3.12 */
    uint16_t thread_frame;    /* of a thread's state: its innermost frame, or where that is: */
    int16_t frame_in_between; /* of what it leads to, the frame; -1: it leads to the frame */
    uint16_t thread_id;       /* pthread_self() of its thread */
    uint16_t previous, code, instruction, owner, frame_bytes;              /* of a frame */
    uint16_t filename, name, line_table, first_line, bytecode, code_bytes; /* of a code object */
    uint16_t text_bits;               /* before the 3 of a text's kind */
    uint16_t ascii_bytes, wide_bytes; /* of a text before its characters */
} python_layout;

typedef struct python_process {
    python_layout layout;
    int pid; /* of this process; to ask for it each time would double what a read costs */
    const void *code_type;      /* of each code object */
    void *(*this_thread)(void); /* the state of the thread that calls; NULL: it has none */
} python_process;

/* Looks for CPython 3.10 to 3.14 in this process. False, and why. May be called on any thread, and
 * takes no lock of Python's. */
bool python_find(python_process *python, char *why, size_t why_bytes);

#endif
