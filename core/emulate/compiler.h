/* compiler.h - this machine's C++ compiler as a process. */
#ifndef SL_EMULATE_COMPILER_H
#define SL_EMULATE_COMPILER_H

#include <signal.h>

#include "../backend.h"
#include "growing_text.h"

enum { EMU_PATH_BYTES = 1024 };

/* The path of $STREAMLAB_CXX, else of g++, clang++ or c++, the first that is there.
 * SL_EUNSUPPORTED: there is none. */
sl_status emu_compiler_find(char path[EMU_PATH_BYTES], sl_error *err);

/* The path of a program that $PATH names. */
bool emu_program_find(const char *name, char path[EMU_PATH_BYTES]);

typedef struct emu_compile {
    const char *const *argv; /* argv[0] is the compiler's path */
    const emu_text *source;  /* its standard input */
    emu_text messages;       /* out: its standard error, 64 KiB at most; the caller frees them */
    bool succeeded;          /* out */
} emu_compile;

/* Runs them all at once and waits. SL_EINTERRUPT: *interrupted was set, and they are killed. */
sl_status emu_compiler_run(emu_compile *runs, int n, const volatile sig_atomic_t *interrupted,
                           sl_error *err);

#endif
