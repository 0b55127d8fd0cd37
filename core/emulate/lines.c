/* lines.c - asks addr2line, a program of binutils or LLVM. It reads untrusted objects in a graded
 * lab, so there it is behind the compiler's fence, and what it prints is not believed: it gives a
 * number or nothing. */
#include "launch_processes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text/temporary_folder.h"
#include "compiler.h"
#include "unit.h"

enum { MOST_LINE = 1 << 24 };

/* A file in that folder. */
static bool write_file(const emu_object *object, const char *folder, char path[EMU_PATH_BYTES])
{
    const char *at = object->data;
    size_t left = object->bytes;
    snprintf(path, EMU_PATH_BYTES, "%s/kernel", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    while (left > 0) {
        ssize_t n = write(fd, at, left);
        if (n <= 0) break;
        at += n;
        left -= (size_t)n;
    }
    close(fd);
    return left == 0;
}

/* Whether a path is the kernel's file: addr2line puts the folder in front in which it was
 * compiled. */
static bool is_kernels(const char *path, size_t n, const char *file)
{
    const size_t length = strlen(file);
    if (n < length || memcmp(path + n - length, file, length) != 0) return false;
    return n == length || path[n - length - 1] == '/';
}

/* "FILE:LINE", perhaps with " (discriminator 2)" behind; 0: it is none of the kernel's. */
static int line_of(const char *text, size_t n, const char *file)
{
    char copy[EMU_PATH_BYTES];
    snprintf(copy, sizeof copy, "%.*s", (int)n, text);
    const char *colon = strrchr(copy, ':');
    if (!colon || !is_kernels(copy, (size_t)(colon - copy), file)) return 0;
    long line = strtol(colon + 1, NULL, 10);
    return line > 0 && line <= MOST_LINE ? (int)line : 0;
}

/* For each address "0x..." and the lines that it belongs to, the innermost function first. */
static void read_answer(const char *text, const char *file, int n, int lines[2])
{
    int i = -1;
    while (text && *text) {
        const size_t length = strcspn(text, "\n");
        if (strncmp(text, "0x", 2) == 0 && !memchr(text, ':', length))
            i++;
        else if (i >= 0 && i < n && !lines[i])
            lines[i] = line_of(text, length, file);
        text += length + (text[length] == '\n');
    }
}

static void ask(const emu_run *run, const char *path, const uint64_t *pcs, int n, int lines[2])
{
    static const volatile sig_atomic_t never;
    char program[EMU_PATH_BYTES], addresses[2][32];
    const char *argv[] = { program, "-a", "-i", "-e", path, addresses[0], NULL, NULL };
    const emu_text nothing = { .data = "" };
    emu_compile one = { .argv = argv, .source = &nothing };
    sl_error err;
    if (!emu_program_find("addr2line", program) && !emu_program_find("llvm-addr2line", program))
        return;
    for (int i = 0; i < n; i++) {
        snprintf(addresses[i], sizeof addresses[i], "0x%llx",
                 (unsigned long long)(pcs[i] - (uint64_t)(uintptr_t)run->image->base));
        argv[5 + i] = addresses[i];
    }
    if (emu_compiler_run(&one, 1, &never, &err) == SL_OK && one.succeeded)
        read_answer(one.messages.data, emu_unit_file(run->emulated->kernel), n, lines);
    emu_text_free(&one.messages);
}

void emu_lines_find(const emu_run *run, const uint64_t pcs[2], int lines[2])
{
    const int n = pcs[0] ? pcs[1] ? 2 : 1 : 0;
    char folder[SL_TEMPORARY_FOLDER_BYTES], path[EMU_PATH_BYTES];
    lines[0] = lines[1] = 0;
    if (n == 0 || sl_temporary_folder_make(folder) != 0) return;
    if (write_file(&run->image->object, folder, path)) ask(run, path, pcs, n, lines);
    sl_temporary_folder_remove(folder);
}
