/* t-64-files.c - files that are written whole or not at all: several at once, what they replace,
 * what ended writers leave, and what the end of this process removes. */
#define _XOPEN_SOURCE 700 /* mkdtemp, mkfifo, symlink */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/text/outfile.h"
#include "files.h"
#include "make.h"

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_directory(name), "w");
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void holds(const char *name, const char *want, const char *sentence)
{
    char *text = contents(in_directory(name));
    is_str(text ? text : "(none)", want, "%s", sentence);
    free(text);
}

static sl_file file(const char *path, const char *text)
{
    return (sl_file){ path, text, strlen(text) };
}

static bool is_there(const char *name)
{
    struct stat info;
    return lstat(in_directory(name), &info) == 0;
}

/* ---- writing ------------------------------------------------------------------ */

static void several(void)
{
    sl_error err;
    put("b", "old");
    sl_file both[] = { file(in_directory("a"), "one"), file(in_directory("b"), "two") };
    is_int(sl_files_write(both, 2, &err), SL_OK, "two files are written");
    holds("a", "one", "a new one");
    holds("b", "two", "and one in the place of another");
    is_int(sl_files_write(NULL, 0, &err), SL_OK, "no files are written as well");
    sl_file bad[] = { file(in_directory("a"), "new"), file(in_directory("none/b"), "new") };
    is_int(sl_files_write(bad, 2, &err), SL_EIO, "a folder that is missing is SL_EIO: %s", err.msg);
    holds("a", "one", "and the file before it is as it was");
    is_int(files_in_directory(), 2, "nothing else is left");
    sl_file zeros = { in_directory("b"), "x\0y", 3 };
    is_int(sl_files_write(&zeros, 1, &err), SL_OK, "bytes may be zeros");
    struct stat info;
    ok(stat(in_directory("b"), &info) == 0 && info.st_size == 3, "which are written");
}

static void trying(void)
{
    sl_error err;
    put("a", "old");
    is_int(sl_file_try(in_directory("a"), NULL, &err), SL_OK,
           "a file that is there could be written");
    holds("a", "old", "and is as it was");
    is_int(sl_file_try(in_directory("new"), NULL, &err), SL_OK, "a new one could be made");
    ok(!is_there("new"), "and is not made");
    is_int(sl_file_try(directory, NULL, &err), SL_EIO, "a folder is no file: %s", err.msg);
    is_int(sl_file_try(in_directory("none/x"), NULL, &err), SL_EIO, "nor is there a place: %s",
           err.msg);
    bool direct = false;
    mkfifo(in_directory("pipe"), 0600);
    is_int(sl_file_try(in_directory("pipe"), &direct, &err), SL_OK, "a pipe is not waited for");
    ok(direct, "it would be written to directly");
    is_int(sl_file_try(in_directory("a"), &direct, &err), SL_OK, "a file as well can be tried");
    ok(!direct, "which would be replaced");
    unlink(in_directory("pipe"));
}

/* What is read from a pipe while a file of that name is written. */
static void pipes(void)
{
    const char *path = in_directory("pipe");
    sl_error err;
    char text[8] = "";
    mkfifo(path, 0600);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    sl_file one = file(path, "piped");
    is_int(sl_files_write(&one, 1, &err), SL_OK, "a pipe is written to");
    ok(read(reader, text, sizeof text) == 5 && strcmp(text, "piped") == 0, "and stays one");
    close(reader);
    unlink(path);
}

/* A file that stdout is written to: what is there stays, in order, under its name. */
static void standard_output(void)
{
    sl_error err;
    fflush(stdout);
    int before = dup(STDOUT_FILENO), fd = open(in_directory("all"), O_WRONLY | O_CREAT, 0600);
    sl_file one = file(in_directory("all"), "two\n");
    dup2(fd, STDOUT_FILENO);
    bool fine = write(STDOUT_FILENO, "one\n", 4) == 4 && sl_files_write(&one, 1, &err) == SL_OK
                && write(STDOUT_FILENO, "three\n", 6) == 6;
    dup2(before, STDOUT_FILENO);
    close(before);
    close(fd);
    ok(fine, "a file that is stdout as well is written to");
    holds("all", "one\ntwo\nthree\n", "in its turn");
    unlink(in_directory("all"));
}

/* The mode, and that a link stays and leads to the new text. */
static void what_it_replaces(void)
{
    sl_error err;
    struct stat info;
    put("target", "old");
    chmod(in_directory("target"), 0640);
    if (symlink("target", in_directory("link")) != 0) diag("no symbolic link");
    sl_file one = file(in_directory("link"), "new");
    is_int(sl_files_write(&one, 1, &err), SL_OK, "a link is followed");
    holds("target", "new", "to the file that it names");
    ok(lstat(in_directory("link"), &info) == 0 && S_ISLNK(info.st_mode), "and stays one");
    ok(stat(in_directory("target"), &info) == 0 && (info.st_mode & 07777) == 0640,
       "the file keeps its mode");
    unlink(in_directory("link"));
    if (geteuid() == 0) {
        if (chown(in_directory("target"), 12, 34) != 0) diag("no chown");
        one = file(in_directory("target"), "newer");
        sl_files_write(&one, 1, &err);
        ok(stat(in_directory("target"), &info) == 0 && info.st_uid == 12 && info.st_gid == 34,
           "and its owner, where that is allowed");
    }
    unlink(in_directory("target"));
}

/* ---- what is left behind --------------------------------------------------------- */

/* Ends as `how` says with a file half written; gives the status. */
static int end_in_the_middle(int how)
{
    pid_t child = fork();
    if (child == 0) {
        sl_error err;
        sl__outfile out;
        if (sl__outfile_open(in_directory("a"), &out, &err) == SL_OK)
            sl__outfile_write(&out, "half", 4);
        if (how == SIGTERM) sl_files_abandon();
        raise(how);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

/* A process looks through a folder once while it writes there; after another folder, again. */
static void write_elsewhere(void)
{
    char folder[] = "/tmp/t-64-elsewhere-XXXXXX", path[64];
    sl_error err = { .msg = "no folder" };
    must(mkdtemp(folder) ? SL_OK : SL_EIO, &err);
    snprintf(path, sizeof path, "%s/a", folder);
    sl_file there = file(path, "");
    must(sl_files_write(&there, 1, &err), &err);
    unlink(path);
    rmdir(folder);
}

static void ends(void)
{
    sl_error err;
    put("a", "old");
    int before = files_in_directory();
    end_in_the_middle(SIGTERM);
    is_int(files_in_directory(), before, "who abandons its files leaves nothing");
    end_in_the_middle(SIGKILL);
    is_int(files_in_directory(), before + 1, "who is killed leaves what it has begun");
    holds("a", "old", "and the old file");
    write_elsewhere();
    sl_file other = file(in_directory("b"), "new");
    is_int(sl_files_write(&other, 1, &err), SL_OK, "whoever writes next to it");
    is_int(files_in_directory(), before, "removes that");
}

/* A copy of this process does not remove what it does not write. */
static void copies(void)
{
    sl_error err;
    sl__outfile out;
    must(sl__outfile_open(in_directory("a"), &out, &err), &err);
    int before = files_in_directory();
    pid_t child = fork();
    if (child == 0) {
        sl_files_abandon();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    is_int(files_in_directory(), before, "a copy of the process removes no files of the first");
    sl__outfile_write(&out, "whole", 5);
    is_int(sl__outfile_close(&out, &err), SL_OK, "which takes its place");
    holds("a", "whole", "whole");
}

/* A number that no process has. */
static long dead_process(void)
{
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return (long)child;
}

/* Whether a file of that name is there after another one was written beside it. */
static bool is_kept(const char *name)
{
    sl_error err;
    sl_file other = file(in_directory("b"), "new");
    write_elsewhere();
    sl_files_write(&other, 1, &err);
    return is_there(name);
}

static void others(void)
{
    char gone[64], alive[64], odd[64];
    long pid = dead_process();
    snprintf(gone, sizeof gone, "streamlab-%ld-7.tmp", pid);
    snprintf(alive, sizeof alive, "streamlab-%ld-7.tmp", (long)getppid());
    snprintf(odd, sizeof odd, "streamlab-%ld-07.tmp", pid);
    put(gone, "");
    put(alive, "");
    put(odd, "");
    ok(!is_kept(gone), "a file of a process that has ended is removed");
    ok(is_kept(alive), "not one of a process that runs");
    ok(is_kept(odd), "nor one that is called otherwise");
    unlink(in_directory(alive));
    unlink(in_directory(odd));
    mkdir(in_directory(gone), 0700);
    ok(is_kept(gone), "nor a folder");
    rmdir(in_directory(gone));
    if (symlink("b", in_directory(gone)) != 0) diag("no symbolic link");
    ok(is_kept(gone), "nor a link");
    unlink(in_directory(gone));
    put(gone, "");
    if (link(in_directory(gone), in_directory("second")) != 0) diag("no link");
    ok(is_kept(gone), "nor one that has another name");
    unlink(in_directory("second"));
    if (geteuid() == 0 && chown(in_directory(gone), 12, 34) == 0)
        ok(is_kept(gone), "nor another user's");
    unlink(in_directory(gone));
}

/* The writer may be on another machine: its number is nobody's here, but it holds the lock. */
static void locked(void)
{
    char name[64];
    int ready[2];
    snprintf(name, sizeof name, "streamlab-%ld-7.tmp", dead_process());
    put(name, "");
    if (pipe(ready) != 0) diag("no pipe");
    pid_t writer = fork();
    if (writer == 0) {
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int fd = open(in_directory(name), O_WRONLY);
        bool fine = fcntl(fd, F_SETLK, &whole) == 0;
        if (write(ready[1], fine ? "y" : "n", 1) == 1) pause();
        _exit(0);
    }
    char answer = 0;
    ok(read(ready[0], &answer, 1) == 1 && answer == 'y' && is_kept(name),
       "a file that somebody writes is kept, whoever that is");
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    sl_error err;
    sl_file other = file(in_directory("b"), "new");
    must(sl_files_write(&other, 1, &err), &err);
    ok(is_there(name), "a folder is not looked through again for each file in it");
    ok(!is_kept(name), "until the lock is gone");
}

int main(void)
{
    make_directory();
    several();
    trying();
    pipes();
    standard_output();
    what_it_replaces();
    ends();
    copies();
    others();
    locked();
    unlink(in_directory("a"));
    unlink(in_directory("b"));
    is_int(rmdir(directory), 0, "no temporary file is left");
    return done_testing();
}
