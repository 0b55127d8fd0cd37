/* history.c - the entries of earlier sessions, in a file.
 *
 * Entries are appended under a lock, and the file is cut under the same one, so that no other
 * session's entry is lost between reading and replacing. Waiting for the lock is limited to a
 * moment, so that no session hangs because of the history.
 */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool lsl_write_file(const char *path, const char *bytes, size_t n); /* bindings/ */

enum {
    MOST_ENTRIES = 10000,
    LONGEST_LINE = 1 << 20,  /* a longer one was no entry */
    LARGEST_FILE = 16 << 20, /* of a larger one, its end is read */
    LOCK_TRIES = 20,
    LOCK_PAUSE_MS = 10
};

__attribute__((format(printf, 2, 3))) static void notice(history_file *h, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(h->notice, sizeof h->notice, fmt, args);
    va_end(args);
}

/* ---- where it is --------------------------------------------------------------- */

static char *join(const char *a, const char *b)
{
    char *text = malloc(strlen(a) + strlen(b) + 1);
    return text ? strcat(strcpy(text, a), b) : NULL;
}

/* To be freed; NULL: there is to be none. */
static char *find_path(void)
{
    const char *file = getenv("STREAMLAB_HISTORY");
    if (file) return file[0] ? join(file, "") : NULL;
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/') return join(state, "/streamlab/history");
    return home && home[0] ? join(home, "/.local/state/streamlab/history") : NULL;
}

/* Makes the folders above the file that are missing. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* ---- the file -------------------------------------------------------------------- */

static bool lock(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000 };
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (fcntl(fd, F_SETLK, &whole) == 0) return true;
        if (errno != EACCES && errno != EAGAIN && errno != EINTR)
            return false; /* a file system without locks */
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Whether the path still leads to the open file: another session may have cut it. */
static bool is_current(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_dev == named.st_dev
           && open_one.st_ino == named.st_ino;
}

/* Opens and locks the file; -1 with errno. *locked: the lock was had. */
static int open_locked(const char *path, bool *locked)
{
    for (int i = 0;; i++) {
        int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
        struct stat info;
        if (fd < 0) return -1;
        if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
            close(fd);
            errno = EISDIR;
            return -1;
        }
        *locked = lock(fd);
        if (!*locked || i >= LOCK_TRIES || is_current(fd, path)) return fd;
        close(fd);
    }
}

static bool write_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, text, n);
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) {
            text += written;
            n -= (size_t)written;
        }
    }
    return true;
}

/* The file, or the end of a large one (*cut), to be freed; NULL without memory. */
static char *read_end(int fd, size_t *len, bool *cut)
{
    struct stat info;
    *len = 0;
    if (fstat(fd, &info) != 0) return NULL;
    *cut = info.st_size > LARGEST_FILE;
    off_t from = *cut ? info.st_size - LARGEST_FILE : 0;
    size_t room = (size_t)(info.st_size - from);
    char *text = malloc(room + 1);
    while (text && *len < room) {
        ssize_t n = pread(fd, text + *len, room - *len, from + (off_t)*len);
        if (n <= 0 && !(n < 0 && errno == EINTR)) break;
        if (n > 0) *len += (size_t)n;
    }
    return text;
}

/* ---- lines and entries ------------------------------------------------------------ */

/* Turns the line into its entry, in place. */
static void unescape(char *line)
{
    char *to = line;
    for (const char *p = line; *p; p++) {
        if (p[0] == '\\' && (p[1] == 'n' || p[1] == '\\')) {
            p++;
            *to++ = *p == 'n' ? '\n' : '\\';
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
}

/* The entry's line with its newline, to be freed. */
static char *escape(const char *entry)
{
    char *line = malloc(2 * strlen(entry) + 2), *to = line;
    if (!line) return NULL;
    for (const char *p = entry; *p; p++) {
        if (*p == '\n' || *p == '\\') *to++ = '\\';
        *to++ = *p == '\n' ? 'n' : *p;
    }
    *to++ = '\n';
    *to = '\0';
    return line;
}

/* A piece of the file that is an entry. */
typedef struct piece {
    char *text;
    size_t len;
} piece;

/* Finds the latest entries: pieces[0] is the newest. What is damaged (zero bytes, a line
 * without end, too long a one) is left out. Returns their number; *more: there are others,
 * as is known already when the text is not the whole file. */
static int find_pieces(char *text, size_t len, piece *pieces, bool *more)
{
    bool cut = *more;
    int n = 0;
    size_t end = len;
    while (end > 0 && text[end - 1] != '\n')
        end--;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        size_t bytes = end - 1 - start;
        bool sound = bytes > 0 && bytes < LONGEST_LINE && !memchr(text + start, '\0', bytes)
                     && (start > 0 || !cut);
        if (sound && n == MOST_ENTRIES) {
            *more = true;
            return n;
        }
        if (sound) pieces[n++] = (piece){ text + start, bytes };
        end = start;
    }
    return n;
}

/* Puts a file with these entries in the place of the old one. */
static bool replace_file(const char *path, const piece *pieces, int n)
{
    size_t len = 0;
    for (int i = 0; i < n; i++)
        len += pieces[i].len + 1;
    char *text = malloc(len + 1), *to = text;
    for (int i = n - 1; text && i >= 0; i--) {
        memcpy(to, pieces[i].text, pieces[i].len + 1);
        to += pieces[i].len + 1;
    }
    bool fine = text && lsl_write_file(path, text, len);
    free(text);
    return fine;
}

static void keep_last(history_file *h, const char *entry)
{
    free(h->last);
    h->last = join(entry, "");
}

static void load(history_file *h, int fd, bool locked,
                 void (*each)(void *context, const char *entry), void *context)
{
    size_t len;
    bool more = false;
    char *text = read_end(fd, &len, &more);
    piece *pieces = malloc(MOST_ENTRIES * sizeof *pieces);
    if (text && pieces) {
        bool ended = len == 0 || text[len - 1] == '\n';
        int n = find_pieces(text, len, pieces, &more);
        bool is_cut = more && locked && replace_file(h->path, pieces, n);
        for (int i = n - 1; i >= 0; i--) {
            pieces[i].text[pieces[i].len] = '\0';
            unescape(pieces[i].text);
            each(context, pieces[i].text);
        }
        if (n > 0) keep_last(h, pieces[0].text);
        /* An unfinished line must not be joined with the next entry. */
        if (!ended && !is_cut && write_all(fd, "\n", 1)) keep_last(h, "");
    }
    free(pieces);
    free(text);
}

/* ---- using it ---------------------------------------------------------------------- */

static void give_up(history_file *h)
{
    const char *why = errno == EISDIR ? "it is no plain file" : strerror(errno);
    notice(h, "entries are not kept: cannot write the history file %s: %s", h->path, why);
    free(h->path);
    h->path = NULL;
}

void history_open(history_file *h, void (*each)(void *context, const char *entry), void *context)
{
    *h = (history_file){ .path = find_path() };
    if (!h->path) return;
    make_folders(h->path);
    bool locked = false;
    int fd = open_locked(h->path, &locked);
    if (fd < 0) {
        int reason = errno;
        fd = reason == EACCES || reason == EROFS ? open(h->path, O_RDONLY | O_NONBLOCK) : -1;
        if (fd >= 0) load(h, fd, false, each, context);
        errno = reason;
        give_up(h);
    } else {
        load(h, fd, locked, each, context);
    }
    if (fd >= 0) close(fd);
}

/* If only part of a line could be written, it is removed. */
static bool append(int fd, bool locked, const char *line)
{
    struct stat before;
    bool known = locked && fstat(fd, &before) == 0;
    if (write_all(fd, line, strlen(line))) return true;
    int reason = errno;
    if (known && ftruncate(fd, before.st_size) != 0) reason = errno;
    errno = reason;
    return false;
}

bool history_append(history_file *h, const char *entry)
{
    if (!h->path || (h->last && strcmp(h->last, entry) == 0)) return true;
    char *line = escape(entry);
    if (!line || strlen(line) >= LONGEST_LINE) {
        free(line);
        return true;
    }
    keep_last(h, entry);
    bool locked = false;
    int fd = open_locked(h->path, &locked);
    bool fine = fd >= 0 && append(fd, locked, line);
    if (!fine) give_up(h);
    if (fd >= 0) close(fd);
    free(line);
    return fine;
}

void history_close(history_file *h)
{
    free(h->path);
    free(h->last);
    *h = (history_file){ 0 };
}
