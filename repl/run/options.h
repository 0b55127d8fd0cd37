/* options.h - the program's command line, read into a struct.
 *
 * Reading checks everything that can be known without running anything: names
 * and numbers, missing and unknown options. Nothing is printed and nothing is
 * run here. Texts live as long as the options do.
 */
#ifndef REPL_OPTIONS_H
#define REPL_OPTIONS_H

#include <lua.h>
#include <stdbool.h>

/* What the command line asks for besides options. */
typedef enum request { REQUEST_RUN, REQUEST_HELP, REQUEST_VERSION, REQUEST_SUBCOMMAND } request;

/* -e STAT and -l MOD, in the order given. */
typedef struct chunk {
    char letter; /* 'e' or 'l' */
    const char *text;
} chunk;

typedef struct options {
    request request;
    const char *problem; /* what is wrong; NULL: nothing */
    const char *help;    /* what --help prints; NULL unless asked for, or something is wrong */
    const char *backend; /* NULL: not given */
    const char *profile; /* NULL: not given */
    const char *host;    /* NULL: not given; a profile, of which the host's part counts */
    const char *trace;   /* NULL: not given; its end says what it is */
    const char *display; /* NULL: not given; where to write what scripts show */
    const char *colour;  /* "auto", "always" or "never" */
    const char *check;   /* "warn" or "error"; NULL: not given */
    int spread;          /* runs in draws before the script's own; 0: none */
    bool has_device, has_seed;
    long long device, seed;
    int devices;      /* of the simulated machine; 0: not given */
    bool interactive; /* -i */
    bool tune;        /* --tune */
    bool server;      /* --server, with these descriptors */
    int requests, replies;
    bool show_version;       /* -v */
    bool warnings;           /* -W */
    bool ignore_environment; /* -E */
    bool no_rc;              /* --norc */
    chunk *chunks;           /* the caller's */
    int n_chunks;
    int script;       /* index in argv of the script ("-" for stdin), or of the
                              * subcommand; argc: none */
    lua_State *state; /* in which they were read, and which has the texts; a program can run
                       * in it, and then closes it */
} options;

/* Reads argv into *o, which options_close frees in any case; `chunks` has room for argc of them and
 * must outlive *o. False: memory ran out. */
bool options_read(options *o, chunk *chunks, int argc, char **argv);
void options_close(options *o);

#endif
