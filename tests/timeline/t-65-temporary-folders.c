/* t-65-temporary-folders.c - folders of processes that were killed are removed by the next one that
 * makes one; nothing else is, whatever others have planted beside them. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/text/temporary_folder.h"
#include "../tap.h"

static char root[] = "/tmp/streamlab-folders-XXXXXX";

static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static const char *in(const char *folder, const char *name)
{
    static char path[4][512];
    static int n;
    n = (n + 1) % 4;
    snprintf(path[n], sizeof path[n], "%s/%s", folder, name);
    return path[n];
}

static void write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) close(fd);
}

/* A process that makes a folder with files in it and is killed: its folder. */
static void make_and_die(char made[SL_TEMPORARY_FOLDER_BYTES])
{
    int pipe_[2];
    if (pipe(pipe_) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        char path[SL_TEMPORARY_FOLDER_BYTES] = "";
        if (sl_temporary_folder_make(path) == 0) {
            write_file(in(path, "unit.cu"));
            mkdir(in(path, "deep"), 0700);
            write_file(in(in(path, "deep"), "er"));
            (void)!symlink(in(root, "kept"), in(path, "link"));
        }
        (void)!write(pipe_[1], path, sizeof path);
        raise(SIGKILL);
    }
    (void)!read(pipe_[0], made, SL_TEMPORARY_FOLDER_BYTES);
    close(pipe_[0]);
    close(pipe_[1]);
    waitpid(child, NULL, 0);
}

/* The same, in a process that ends well. */
static void make_and_remove(void)
{
    pid_t child = fork();
    if (child == 0) {
        char path[SL_TEMPORARY_FOLDER_BYTES];
        if (sl_temporary_folder_make(path) == 0) sl_temporary_folder_remove(path);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* The folder's name with another ending. */
static const char *planted(const char *made, const char *ending)
{
    static char path[SL_TEMPORARY_FOLDER_BYTES];
    snprintf(path, sizeof path, "%s", made);
    memcpy(path + strlen(path) - strlen(ending), ending, strlen(ending));
    return path;
}

static void check_depth(char own[SL_TEMPORARY_FOLDER_BYTES])
{
    char deep[4096];
    is_int(sl_temporary_folder_make(own), 0, "another one is made");
    size_t n = (size_t)snprintf(deep, sizeof deep, "%s", own);
    for (int i = 0; i < 150; i++) {
        n += (size_t)snprintf(deep + n, sizeof deep - n, "/d");
        mkdir(deep, 0700);
    }
    sl_temporary_folder_remove(own);
    ok(is_there(deep), "folders that are deeper than a compiler's stay");
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    (void)!system(command);
}

static void check_no_place(char own[SL_TEMPORARY_FOLDER_BYTES])
{
    setenv("TMPDIR", "/nowhere/at/all", 1);
    is_int(sl_temporary_folder_make(own), ENOENT,
           "without a folder for temporary ones there is none");
    char far[400];
    memset(far, 'x', sizeof far);
    far[0] = '/';
    far[sizeof far - 1] = '\0';
    setenv("TMPDIR", far, 1);
    is_int(sl_temporary_folder_make(own), ENAMETOOLONG, "nor where its path is too long");
}

int main(void)
{
    char made[SL_TEMPORARY_FOLDER_BYTES] = "", own[SL_TEMPORARY_FOLDER_BYTES];
    plan(0);
    if (!mkdtemp(root)) return 1;
    setenv("TMPDIR", root, 1);
    mkdir(in(root, "kept"), 0700);
    write_file(in(root, "kept/file"));

    is_int(sl_temporary_folder_make(own), 0, "a folder is made");
    struct stat info;
    ok(stat(own, &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & 0777) == 0700,
       "for this user alone");
    write_file(in(own, "mine"));

    make_and_die(made);
    ok(is_there(in(made, "deep/er")), "a process that is killed leaves its folder");
    char link[SL_TEMPORARY_FOLDER_BYTES], file[SL_TEMPORARY_FOLDER_BYTES],
        elsewhere[SL_TEMPORARY_FOLDER_BYTES], longer[SL_TEMPORARY_FOLDER_BYTES + 1],
        others[SL_TEMPORARY_FOLDER_BYTES];
    snprintf(link, sizeof link, "%s", planted(made, "planta"));
    snprintf(file, sizeof file, "%s", planted(made, "plantb"));
    snprintf(elsewhere, sizeof elsewhere, "%s", planted(made, "plantc"));
    snprintf(others, sizeof others, "%s", planted(made, "plantd"));
    snprintf(longer, sizeof longer, "%sx", made);
    char *place = elsewhere + strlen(elsewhere) - strlen("00000000-plantc");
    memcpy(place, memcmp(place, "12345678", 8) == 0 ? "87654321" : "12345678", 8);
    is_int(symlink(in(root, "kept"), link), 0, "a link is planted");
    write_file(file);
    is_int(mkdir(elsewhere, 0700) | mkdir(longer, 0700) | mkdir(others, 0700), 0, "and folders");
    bool is_root = geteuid() == 0 && chown(others, 65534, 65534) == 0;

    make_and_remove();
    ok(!is_there(made), "the next process removes it");
    ok(is_there(in(root, "kept/file")), "links in it and beside it are not followed");
    ok(is_there(link), "a link of such a name stays");
    ok(is_there(file), "so does a file");
    ok(is_there(elsewhere), "so does the folder of a process of another machine or container");
    ok(is_there(longer), "so does a folder of another name");
    if (is_root)
        ok(is_there(others), "so does another user's");
    else
        skip(1, "only root can give a folder to another user");
    ok(is_there(in(own, "mine")), "so does the folder of a process that runs");

    mkdir(in(own, "a"), 0700);
    (void)!symlink(in(root, "kept"), in(own, "a/link"));
    sl_temporary_folder_remove(own);
    ok(!is_there(own), "one is removed with all that is in it");
    ok(is_there(in(root, "kept/file")), "and no link is followed");
    check_depth(own);
    check_no_place(own);
    return done_testing();
}
