/* native_stack.h - who called CUDA: the frames of the thread that calls, as far as they are the
 * program's own and not those of CUDA, of the system or of a package.
 */
#ifndef NATIVE_STACK_H
#define NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of the run time, which nvcc links into programs, are among them, and one more. Between
 * these of a launch are those that nvcc makes for a kernel: CUDA 13 has up to six. */
enum { NATIVE_FRAMES = 8, NATIVE_FRAMES_USUAL = 4 };

typedef struct native_frame {
    const char *path; /* of the program or its library; stays where it is */
    uint64_t address; /* within the call, as the file numbers it */
} native_frame;

/* Whether stacks can be walked: there is libgcc_s, as in each program in C++. Loads it. */
bool native_stack_begin(void);

/* The innermost frames of the program's own, at most so many, and how many. `kernel`: the host's
 * function of a kernel that is launched, which nvcc makes: frames count from its caller; or NULL.
 * Takes the loader's lock where a library has come. */
size_t native_stack(const void *kernel, size_t most, native_frame frames[NATIVE_FRAMES]);

#endif
