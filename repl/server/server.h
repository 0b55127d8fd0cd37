/* server.h - answers requests that come as lines of JSON: for notebooks and editors.
 *
 * repl/server/ is the console without a terminal. It runs entries, completes and explains as
 * repl/console does, and sends values as bundles of MIME types. docs/notebook.md has the protocol.
 */
#ifndef REPL_SERVER_H
#define REPL_SERVER_H

#include <lua.h>
#include <stdbool.h>

#include "channel.h"

typedef struct server {
    channel channel;
    int n_chunks;    /* the number of the latest that was compiled since the state was made */
    char id[64];     /* of the request that is answered, as JSON; "": none, or a longer one */
    size_t n_behind; /* bytes behind its line that are to be dropped */
} server;

/* Opens the channel. From now on what is printed leaves with each line. False: see channel_open. */
bool server_open(server *s, int in, int out, char *message, int message_bytes);

/* Answers requests up to the last. True: it asked for a new state. */
bool server_run(lua_State *L, server *s);

void server_close(server *s);

#endif
