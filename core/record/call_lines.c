/* call_lines.c - at which line of a program its calls of CUDA are made: of Python (record
 * --python), else of what a compiler made (record --stacks).
 *
 * `call_line` is called at the beginning of each call that is recorded, on the thread that makes
 * it, which may not hold the interpreter's lock, and does not wait for it here. The line is
 * that of the innermost function that is the program's own, not of a package or of Python's
 * library. A thread that runs no Python, as that in which PyTorch's autograd computes gradients,
 * gets the line of the thread that was last seen in such a function, and that line says so.
 *
 * Of compiled code only addresses are noted there. What they are, a look into the program's files
 * says, before the line is written.
 *
 * Spools have a line once, and of a thread's calls only those whose line is not the one before.
 */
#define _GNU_SOURCE /* O_CLOEXEC in fopen */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base.h"
#include "../table.h"
#include "../cuda/cuda_kernel_names.h"
#include "native_lines.h"
#include "native_stack.h"
#include "python_frames.h"
#include "recorder.h"
#include "spool_write.h"

enum {
    CODES_MOST = 1 << 16, /* functions that are kept; a program may make new ones for ever */
    LINES_MOST = 1 << 16,
    TEXT_BYTES = 1024,  /* of a path or a name */
    SOURCE_BYTES = 200, /* of a line of the program */
    SOURCE_LINES_MOST = 100000
};

typedef struct text {
    sl__entry entry;
    char text[];
} text;

typedef struct code {
    sl__entry entry; /* key: its address */
    python_code is;
    uint64_t lines_sum;
    bool is_own; /* the program's */
    const char *path, *shown, *function;
} code;

typedef struct line {
    sl__entry entry;     /* key: all that follows up to the frames */
    const code *code;    /* NULL: compiled code, where these are the frames, innermost first: */
    int64_t instruction; /* of Python */
    bool is_other;       /* than that of the thread which makes the call */
    size_t n_frames;
    native_frame frames[NATIVE_FRAMES];
    uint32_t id;
    int32_t number;            /* 0: not known */
    const char *file, *symbol; /* of compiled code, once it is found; kept */
    char *source;              /* the line's text, from then on until it is written */
    struct line *next_new;
} line;

/* Lines in the order of their numbers. */
typedef struct line_queue {
    line *first, **end;
} line_queue;

/* A thread of Python: its state, and its pthread_t. */
typedef struct seen_thread {
    const void *state; /* NULL: none */
    uint64_t pthread;
} seen_thread;

static struct {
    bool has_python, has_stacks;
    python_process python;
    pthread_mutex_t lock; /* guards what follows */
    sl__table texts, codes, lines;
    bool has_no_room; /* for the line of this call; and for how many */
    uint64_t n_dropped;
    size_t n_codes;                  /* with those of which lines are left */
    line_queue new_ones, found_ones; /* which are to be found, and to be written */
    seen_thread first, latest;       /* that were seen in a function of the program's own */
    python_snapshot snapshot; /* of the latest, when it was last looked at for another one, */
    uint32_t snapshot_line;   /* and where it was then */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- functions of Python ---- */

/* Paths that have one of these are of packages, of Python's library or of generated code. */
static bool is_of_a_package(const char *path)
{
    static const char *const parts[] = { "/site-packages/", "/dist-packages/", "/lib/python3",
                                         "/lib64/python3", "/torchinductor_" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i])) return true;
    return path[0] == '<' && strcmp(path, "<stdin>") != 0 && strcmp(path, "<string>") != 0
           && strncmp(path, "<ipython", 8) != 0;
}

/* Relative to the folder of packages or the program's: the end of `path`. */
static const char *shown_path(const char *path)
{
    char folder[TEXT_BYTES];
    const char *at = strstr(path, "-packages/");
    if (at) return at + strlen("-packages/");
    if (path[0] == '/' && (at = strstr(path, "/lib/python3")) && (at = strchr(at + 5, '/')))
        return at + 1;
    if (!getcwd(folder, sizeof folder)) return path;
    const size_t n = strlen(folder);
    return n > 1 && strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* "step" of "main.<locals>.step"; "" of a module. */
static const char *shown_function(const char *name)
{
    for (const char *at; (at = strstr(name, "<locals>.")) != NULL;)
        name = at + strlen("<locals>.");
    return strcmp(name, "<module>") == 0 ? "" : name;
}

/* A copy that stays where it is, one of each text. NULL: out of memory. */
static const char *keep(const char *what)
{
    const size_t bytes = strlen(what) + 1;
    const uint64_t key = sl__hash(SL__HASH_START, what, bytes);
    for (sl__entry *e = sl__table_find(&all.texts, key); e; e = sl__table_next(e))
        if (strcmp(((text *)e)->text, what) == 0) return ((text *)e)->text;
    text *made = malloc(sizeof *made + bytes);
    if (made) memcpy(made->text, what, bytes);
    if (made && sl__table_add(&all.texts, &made->entry, key)) return made->text;
    free(made);
    return NULL;
}

static bool take_texts(const python_walk *walk, code *to)
{
    char path[TEXT_BYTES], name[TEXT_BYTES];
    python_text(walk, walk->code.filename, path, sizeof path);
    python_text(walk, walk->code.name, name, sizeof name);
    to->is = walk->code;
    to->lines_sum = python_lines_sum(walk);
    to->is_own = !is_of_a_package(path);
    to->path = keep(path);
    to->shown = keep(shown_path(path));
    to->function = keep(shown_function(name));
    return to->path && to->shown && to->function;
}

static const code *add_code(const code *what)
{
    code *made = all.n_codes < CODES_MOST ? malloc(sizeof *made) : NULL;
    all.has_no_room |= !made;
    if (!made) return NULL;
    *made = *what;
    if (sl__table_add(&all.codes, &made->entry, (uintptr_t)what->is.object)) {
        all.n_codes++;
        return made;
    }
    free(made);
    return NULL;
}

/* A function that came to be at the address of one that has gone differs in what it has. It may
 * still be the same one, compiled again; else lines refer to the other one, which stays. Of one too
 * many not even the texts are kept. */
static const code *find_code(const python_walk *walk)
{
    code now, *found = (code *)sl__table_find(&all.codes, (uintptr_t)walk->code.object);
    if (found && found->is.filename == walk->code.filename && found->is.name == walk->code.name
        && found->is.line_table == walk->code.line_table
        && found->is.first_line == walk->code.first_line)
        return found;
    all.has_no_room |= !found && all.n_codes >= CODES_MOST;
    if (!found && all.n_codes >= CODES_MOST) return NULL;
    if (!take_texts(walk, &now)) return NULL;
    if (!found) return add_code(&now);
    if (found->path == now.path && found->function == now.function
        && found->is.first_line == now.is.first_line && found->lines_sum == now.lines_sum) {
        found->is = now.is;
        return found;
    }
    sl__table_remove(&all.codes, &found->entry);
    return add_code(&now);
}

/* ---- lines ---- */

/* All from `first` on, of which the last one has `end`. */
static void append(line_queue *queue, line *first, line **end)
{
    if (!queue->first) queue->end = &queue->first;
    *queue->end = first;
    queue->end = end;
}

static line_queue take_all(line_queue *queue)
{
    const line_queue taken = *queue;
    *queue = (line_queue){ 0 };
    return taken;
}

/* Its number; 0: out of memory, or there are too many. */
static uint32_t add_line(const line *what, uint64_t key)
{
    line *made = all.lines.n < LINES_MOST ? malloc(sizeof *made) : NULL;
    all.has_no_room |= !made;
    if (!made) return 0;
    *made = *what;
    if (!sl__table_add(&all.lines, &made->entry, key)) {
        free(made);
        return 0;
    }
    made->id = (uint32_t)all.lines.n;
    append(&all.new_ones, made, &made->next_new);
    return made->id;
}

static uint32_t line_at(const python_walk *walk, const code *of)
{
    const uint64_t key = sl__table_key(of, (uint64_t)walk->instruction, walk->is_other);
    for (sl__entry *e = sl__table_find(&all.lines, key); e; e = sl__table_next(e)) {
        const line *found = (line *)e;
        if (found->code == of && found->instruction == walk->instruction
            && found->is_other == walk->is_other)
            return found->id;
    }
    const line made = { .code = of,
                        .instruction = walk->instruction,
                        .is_other = walk->is_other,
                        .number = python_line(walk) };
    return add_line(&made, key);
}

static uint32_t line_of_frames(const native_frame *frames, size_t n)
{
    line made = { .n_frames = n };
    const size_t bytes = n * sizeof *frames;
    memcpy(made.frames, frames, bytes);
    const uint64_t key = sl__hash(SL__HASH_START, made.frames, bytes);
    for (sl__entry *e = sl__table_find(&all.lines, key); e; e = sl__table_next(e)) {
        const line *found = (line *)e;
        if (!found->code && found->n_frames == n && memcmp(found->frames, frames, bytes) == 0)
            return found->id;
    }
    return add_line(&made, key);
}

/* Of the innermost function that is the program's own, else of the innermost one. 0: none. */
static uint32_t line_of_walk(python_walk *walk, bool *is_own)
{
    python_walk innermost = { 0 };
    const code *of_innermost = NULL;
    *is_own = false;
    while (python_walk_next(walk)) {
        const code *of = find_code(walk);
        *is_own = of && of->is_own;
        if (*is_own) return line_at(walk, of);
        if (!of_innermost && of) {
            of_innermost = of;
            innermost = *walk;
        }
    }
    return of_innermost ? line_at(&innermost, of_innermost) : 0;
}

/* Where the thread is that was last seen in a function of the program's own. */
static uint32_t line_of_latest(void)
{
    bool is_own;
    python_walk walk;
    if (all.snapshot_line && python_is_unchanged(&all.python, &all.snapshot))
        return all.snapshot_line;
    const bool is_there = python_walk_begin_other(&walk, &all.python, all.latest.state,
                                                  all.latest.pthread, &all.snapshot);
    return all.snapshot_line = is_there ? line_of_walk(&walk, &is_own) : 0;
}

static void see(seen_thread thread)
{
    if (thread.pthread != all.latest.pthread) all.snapshot_line = 0;
    all.latest = thread;
    if (!all.first.state) all.first = thread;
}

/* That thread may have ended; the first one that was seen is the main thread as a rule. */
static uint32_t line_of_other(uint64_t self)
{
    uint32_t found = all.latest.state && all.latest.pthread != self ? line_of_latest() : 0;
    if (found == 0 && all.first.state && all.first.pthread != self
        && all.first.pthread != all.latest.pthread) {
        see(all.first);
        found = line_of_latest();
    }
    return found;
}

static uint32_t line_of_thread(void)
{
    bool is_own = false;
    python_walk walk;
    uint32_t found = 0;
    const seen_thread self = { all.python.this_thread(), (uint64_t)pthread_self() };
    if (self.state && python_walk_begin(&walk, &all.python, self.state))
        found = line_of_walk(&walk, &is_own);
    if (is_own) see(self);
    return found ? found : line_of_other(self.pthread);
}

/* ---- calls ---- */

bool call_lines_begin(char *why, size_t why_bytes)
{
    why[0] = '\0';
    const bool wants_stacks = getenv("STREAMLAB_RECORD_STACKS") != NULL;
    all.has_stacks = wants_stacks && native_stack_begin();
    if (wants_stacks && !all.has_stacks)
        snprintf(why, why_bytes, "libgcc_s.so.1, which walks stacks, cannot be loaded");
    all.has_python = getenv("STREAMLAB_RECORD_PYTHON") && python_find(&all.python, why, why_bytes);
    return all.has_python || all.has_stacks;
}

/* The stack is walked without the lock: that takes the loader's. */
uint32_t call_line(bool launches, const void *kernel)
{
    native_frame frames[NATIVE_FRAMES];
    const size_t most = launches ? NATIVE_FRAMES : NATIVE_FRAMES_USUAL;
    pthread_mutex_lock(&all.lock);
    all.has_no_room = false;
    uint32_t at = all.has_python ? line_of_thread() : 0;
    if (at == 0 && all.has_stacks) {
        pthread_mutex_unlock(&all.lock);
        const size_t n = native_stack(kernel, most, frames);
        pthread_mutex_lock(&all.lock);
        all.has_no_room = false;
        if (n > 0) at = line_of_frames(frames, n);
    }
    all.n_dropped += all.has_no_room;
    pthread_mutex_unlock(&all.lock);
    return at;
}

uint64_t call_lines_dropped(void)
{
    pthread_mutex_lock(&all.lock);
    const uint64_t n = all.n_dropped;
    pthread_mutex_unlock(&all.lock);
    return n;
}

/* ---- the spool ---- */

/* The text of a line of a file, without what is before and behind it; "" if it cannot be read. */
static void read_source(const char *path, int32_t number, char source[SOURCE_BYTES])
{
    struct stat info;
    char *read = NULL;
    size_t bytes = 0;
    source[0] = '\0';
    if (number < 1 || number > SOURCE_LINES_MOST || stat(path, &info) != 0
        || !S_ISREG(info.st_mode))
        return;
    FILE *file = fopen(path, "re");
    while (file && number > 0 && getline(&read, &bytes, file) > 0)
        number--;
    if (file && number == 0) {
        const char *from = read + strspn(read, " \t");
        size_t n = strcspn(from, "\r\n");
        if (n >= SOURCE_BYTES) n = SOURCE_BYTES - 1;
        memcpy(source, from, n);
        source[n] = '\0';
    }
    if (file) fclose(file);
    free(read);
}

static const char *keep_locked(const char *what)
{
    pthread_mutex_lock(&all.lock);
    const char *kept = keep(what);
    pthread_mutex_unlock(&all.lock);
    return kept;
}

/* A function of CUDA's run time, which nvcc links into programs. A name that C++ mangles has its
 * length first, and before that an L if its file alone has it. */
static bool is_of_the_run_time(const char *symbol)
{
    const char *at = symbol;
    if (strncmp(at, "_Z", 2) == 0) {
        at += at[2] == 'L' ? 3 : 2;
        at += strspn(at, "0123456789");
    }
    at += strspn(at, "_");
    if (strncmp(at, "cu", 2) != 0) return false;
    at += strncmp(at, "cuda", 4) == 0 ? 4 : 2;
    return (*at >= 'A' && *at <= 'Z') || strncmp(at, "rt", 2) == 0;
}

/* A function that nvcc makes for the host to launch a kernel: that of scale(float *) calls
 * __device_stub__Z5scalePf, by whose name `kernel` becomes "_Z5scalePfPf", and of a function with a
 * name of C "_scalePf". */
static bool is_made_by_nvcc(const char *symbol, char kernel[NATIVE_TEXT_BYTES])
{
    static const char stub[] = "__device_stub_";
    const char *at = strstr(symbol, stub);
    const size_t n = strlen(symbol);
    if (at && !kernel[0]) snprintf(kernel, NATIVE_TEXT_BYTES, "%s", at + sizeof stub - 1);
    if (at) return true;
    if (n == 0 || !kernel[0]
        || (strncmp(kernel, symbol, n) != 0 && strncmp(kernel + 1, symbol, n) != 0))
        return false;
    kernel[0] = '\0'; /* it may launch itself */
    return true;
}

/* Of a function without lines "./program+0x1234". Where all frames are the run time's, it is the
 * outermost one, which is the next to the program's own. */
static void find_native(line *new_one, char source[SOURCE_BYTES])
{
    native_line found = { 0 };
    char file[TEXT_BYTES], kernel[NATIVE_TEXT_BYTES] = "";
    const native_frame *frame = new_one->frames;
    for (size_t i = 0; i < new_one->n_frames; i++) {
        frame = &new_one->frames[i];
        native_line_find(frame->path, frame->address, &found);
        if (!is_of_the_run_time(found.symbol) && !is_made_by_nvcc(found.symbol, kernel)) break;
    }
    const char *slash = strrchr(frame->path, '/');
    if (found.path[0])
        snprintf(file, sizeof file, "%s", shown_path(found.path));
    else
        snprintf(file, sizeof file, "%s+0x%" PRIx64, slash ? slash + 1 : frame->path,
                 frame->address);
    read_source(found.path, (int32_t)found.number, source);
    new_one->number = (int32_t)found.number;
    new_one->file = keep_locked(file);
    new_one->symbol = keep_locked(found.symbol);
}

/* One thread at a time, so that one which waits here has the lines of the other, too. */
void call_lines_find(void)
{
    static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;
    char source[SOURCE_BYTES];
    if (!all.has_python && !all.has_stacks) return;
    pthread_mutex_lock(&finding);
    pthread_mutex_lock(&all.lock);
    const line_queue queue = take_all(&all.new_ones);
    pthread_mutex_unlock(&all.lock);
    for (line *at = queue.first; at; at = at->next_new) {
        if (at->code)
            read_source(at->code->path, at->number, source);
        else
            find_native(at, source);
        at->source = strdup(source);
    }
    pthread_mutex_lock(&all.lock);
    if (queue.first) append(&all.found_ones, queue.first, queue.end);
    pthread_mutex_unlock(&all.lock);
    pthread_mutex_unlock(&finding);
}

static uint32_t name_of(const char *kept) { return kept ? activity_name(kept) : SPOOL_NONE; }

static void write_line(line *found)
{
    const code *of = found->code;
    const char *function = found->symbol ? cuda_kernel_name(found->symbol) : NULL;
    const spool_line to = { .kind = SPOOL_LINE,
                            .id = found->id,
                            .number = (uint32_t)found->number,
                            .file = name_of(of ? of->shown : found->file),
                            .function = name_of(of ? of->function : function),
                            .is_other = found->is_other,
                            .text = found->source ? found->source : "" };
    spool_add(&(spool_record){ .line = to });
    free(found->source);
    found->source = NULL;
}

void call_lines_write(void)
{
    if (!all.has_python && !all.has_stacks) return;
    pthread_mutex_lock(&all.lock);
    const line_queue queue = take_all(&all.found_ones);
    pthread_mutex_unlock(&all.lock);
    for (line *at = queue.first; at; at = at->next_new)
        write_line(at);
}
