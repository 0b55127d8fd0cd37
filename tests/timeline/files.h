/* files.h - a folder of its own for a test that writes files, and what is in them.
 *
 * The test defines _XOPEN_SOURCE as 700 before it includes anything. */
#ifndef TESTS_TIMELINE_FILES_H
#define TESTS_TIMELINE_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tap.h"

TAP_UNUSED static char directory[] = "/tmp/streamlab-XXXXXX";

TAP_UNUSED static void make_directory(void)
{
    if (!mkdtemp(directory)) {
        printf("Bail out! no directory in /tmp\n");
        exit(1);
    }
}

/* Valid until the fourth call from here. */
TAP_UNUSED static const char *in_directory(const char *name)
{
    static char path[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

TAP_UNUSED static int files_in_directory(void)
{
    int n = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    if (dir) closedir(dir);
    return n;
}

/* The bytes of a file and a NUL, NULL if there is none; the caller frees them. */
TAP_UNUSED static char *contents(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = calloc(1, (size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) diag("cannot read %s", path);
    fclose(file);
    return data;
}

#endif
