/* python_frames.h - the frames of a Python thread, read without the interpreter's lock.
 *
 * The frames of the thread that calls are read as they are: while it is in a function of C, nobody
 * else changes them. Those of another thread may go at any time, so they are read through the
 * system, which reports what is no memory; what comes out may then be of two moments.
 */
#ifndef PYTHON_FRAMES_H
#define PYTHON_FRAMES_H

#include "python_layout.h"

enum {
    PYTHON_PIECES = 64,       /* of memory that is kept of another thread: its state, and frames */
    PYTHON_RANGE_MOST = 16384 /* bytes from the first to the last of these frames, as one read */
};

/* A function of Python, as far as frames need it. `object` is a code object, which is freed when
 * nothing runs it: another one may have its address later. */
typedef struct python_code {
    const uint8_t *object, *filename, *name, *line_table;
    int32_t first_line;
} python_code;

/* What has been read of another thread's frames, so that one call of the system says whether they
 * are still the same. */
typedef struct python_snapshot {
    const uint8_t *from[PYTHON_PIECES];
    size_t bytes[PYTHON_PIECES], n, used;
    size_t first_frame; /* among the pieces */
    bool has_all;       /* there was room */
    uint8_t read[PYTHON_PIECES * PYTHON_FRAME_MOST], now[PYTHON_RANGE_MOST + PYTHON_FRAME_MOST];
} python_snapshot;

typedef struct python_walk {
    const python_process *python;
    const uint8_t *frame;      /* the next one */
    bool is_other;             /* of another thread, */
    python_snapshot *snapshot; /* of which this is kept */
    int left;                  /* frames that may come */
    python_code code;          /* of this frame, */
    int64_t instruction;       /* in bytes from the beginning of its bytecode */
} python_walk;

/* From the innermost frame of the thread that calls, whose state that is. */
bool python_walk_begin(python_walk *walk, const python_process *python, const void *thread);
/* The same of another thread, and starts a snapshot, which the walk goes on with. False if the
 * state is no longer that of the thread with that pthread_t. */
bool python_walk_begin_other(python_walk *walk, const python_process *python, const void *thread,
                             uint64_t pthread, python_snapshot *snapshot);
/* Whether the other thread is where it was then. */
bool python_is_unchanged(const python_process *python, python_snapshot *snapshot);
/* The next frame that runs code of Python. False: there is none. */
bool python_walk_next(python_walk *walk);

/* The line of the frame that the walk is at; that of the function where it is not known. */
int32_t python_line(const python_walk *walk);

/* The same for functions whose instructions have the same lines. */
uint64_t python_lines_sum(const python_walk *walk);

/* A text of the interpreter's as UTF-8, cut to fit; "" if it cannot be read. */
void python_text(const python_walk *walk, const uint8_t *text, char *to, size_t bytes);

#endif
