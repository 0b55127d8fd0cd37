/* main.c - the program `streamlab`: a Lua interpreter with the laboratory inside.
 *
 * Reads the command line, makes the Lua state with `lab` in it, runs what was asked for in
 * lua5.4's order (LUA_INIT, -e and -l, the script, -i), saves the trace and turns the outcome
 * into the exit status. The settings reach the bindings through the registry
 * ("streamlab.defaults"); a device is opened when a script first needs one. A device that the
 * options name is opened once before, to report errors early.
 */
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "console/console.h"
#include "run/coroutines.h"
#include "run/embedded.h"
#include "run/ctrl_c.h"
#include "run/options.h"
#include "run/run.h"
#include "run/signals.h"
#include "run/sources.h"
#include "run/trace.h"
#include "run/trial.h"
#include "sandbox/children.h"
#include "sandbox/confine.h"
#include "sandbox/fork_server.h"
#include "sandbox/kernel_server.h"
#include "server/server.h"

enum { EXIT_FINE = 0, EXIT_SCRIPT = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* bindings/ */
int luaopen_streamlab(lua_State *L);
void lsl_leave(void); /* from now on no wait for a device lasts, whatever else is run */

/* What the protected part of main works on. */
typedef struct program {
    const options *options;
    int argc;
    char **argv;
    int exit_status;
    lua_State *state; /* that of the options, for the first run; NULL: a new one */
    server server;    /* if there is to be one */
    bool again;       /* in a new state */
} program;

/* ---- the state ----------------------------------------------------------- */

/* A notice on stderr, for the bindings, which colour some; on a terminal the others are folded as
 * errors are. */
static int notice(lua_State *L)
{
    const char *text = luaL_checkstring(L, 1);
    if (isatty(STDERR_FILENO) && !strchr(text, '\033')) {
        embedded_function(L, "repl/run/errors/errors.lua", "fold");
        lua_pushliteral(L, "streamlab: ");
        lua_pushvalue(L, 1);
        lua_call(L, 2, 1);
        text = luaL_checkstring(L, -1);
    }
    run_coloured_message(text);
    return 0;
}

/* Keeps what a recording of a real GPU shows of the host; what fails there is not the
 * recording's. */
static int keep_host(lua_State *L)
{
    embedded_function(L, "repl/run/kept.lua", "note");
    lua_insert(L, 1);
    lua_pcall(L, lua_gettop(L) - 1, 0, 0);
    return 0;
}

/* registry["streamlab.defaults"]: what lab.open uses where a script says nothing. */
static void set_defaults(lua_State *L, const options *o)
{
    lua_newtable(L);
    trial_set_device(L, o);
    if (o->has_seed) {
        lua_pushinteger(L, o->seed);
        lua_setfield(L, -2, "seed");
    }
    if (o->tune) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, "tune");
    }
    lua_pushcfunction(L, notice);
    lua_setfield(L, -2, "notice");
    lua_pushstring(L, o->colour);
    lua_setfield(L, -2, "colour");
    embedded_function(L, "repl/plans/sweeps.lua", "plan");
    lua_setfield(L, -2, "plan");
    lua_pushcfunction(L, keep_host);
    lua_setfield(L, -2, "on_recorded");
    if (o->trace) {
        trace_push_on_open(L);
        lua_setfield(L, -2, "on_open");
    }
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.defaults");
}

/* The global `arg`: the script at 0, its arguments from 1, the rest below 0. As in lua5.4 the
 * program is at 0 if there is no script; a server's entries have no arguments. */
static void set_arg(lua_State *L, const program *p)
{
    bool has_script = p->options->script < p->argc || p->options->server;
    int script = has_script ? p->options->script : 0;
    lua_createtable(L, p->argc - script, script + 1);
    for (int i = 0; i < p->argc; i++) {
        lua_pushstring(L, p->argv[i]);
        lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
}

/* What lab.check(mode) does, given the module on top of the stack. */
static void set_check(lua_State *L, const char *mode)
{
    lua_getfield(L, -1, "check");
    lua_pushstring(L, mode);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
    luaL_tolstring(L, -1, NULL); /* main's callers expect a string, not an error object */
    lua_error(L);
}

/* ---- the end ------------------------------------------------------------- */

/* False if something that the script wrote to stdout was lost. */
static bool flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    run_message("cannot write to stdout");
    return false;
}

/* Waits for the GPUs, as closing the state will, and reports what it finds. False if it reports
 * something: the loss of a device, or a wait without an end, which no later call could report. */
static bool finish_devices(lua_State *L, bool failed)
{
    int before = lua_gettop(L);
    if (lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.finish") != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return true;
    }
    lua_pushboolean(L, failed);
    lua_pushboolean(L, interrupt_has_come());
    if (run_report(L, lua_pcall(L, 2, LUA_MULTRET, 0)) != LUA_OK) return false;
    int n = lua_gettop(L) - before;
    for (int i = 1; i <= n; i++)
        run_message(lua_tostring(L, before + i));
    lua_settop(L, before);
    return n == 0;
}

/* Replaces os.exit: saves the trace, then closes the state unless the second argument is false.
 * Upvalues: the original, the path of the trace or nil. */
static int exit_saving(lua_State *L)
{
    bool fine = true;
    const char *trace = lua_tostring(L, lua_upvalueindex(2));
    lua_settop(L, 2);
    console_close(L);
    if (interrupt_forget(L)) /* the script caught it; the trace is saved all the same */
        lsl_leave();
    if (trace) fine = trace_save(L, trace, false);
    if ((lua_isnil(L, 2) || lua_toboolean(L, 2)) && !finish_devices(L, false)) fine = false;
    if (!flush_stdout() || !fine) {
        bool success = lua_isnoneornil(L, 1) || (lua_isboolean(L, 1) && lua_toboolean(L, 1))
                       || (lua_isinteger(L, 1) && lua_tointeger(L, 1) == 0);
        if (success) {
            lua_pushinteger(L, EXIT_SCRIPT);
            lua_replace(L, 1);
        }
    }
    if (lua_isnil(L, 2)) {
        lua_pushboolean(L, 1);
        lua_replace(L, 2);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    interrupt_abandon();      /* the state will be gone before the process */
    if (interrupt_has_come()) /* as at the end of run_program */
        lsl_leave();
    lua_call(L, 2, 0);
    return 0;
}

static void replace_exit(lua_State *L, const char *trace)
{
    lua_getglobal(L, "os");
    lua_getfield(L, -1, "exit");
    lua_pushstring(L, trace);
    lua_pushcclosure(L, exit_saving, 2);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
}

/* ---- the run ------------------------------------------------------------- */

static void open_state(lua_State *L, const program *p)
{
    const options *o = p->options;
    luaL_checkversion(L);
    if (o->ignore_environment) {
        lua_pushboolean(L, 1);
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    luaL_openlibs(L);
    sources_open(L);
    replace_exit(L, o->trace);
    set_defaults(L, o);
    luaL_requiref(L, "streamlab", luaopen_streamlab, 0);
    if (o->check) set_check(L, o->check);
    lua_setglobal(L, "lab");
    interrupt_open(L);
    coroutines_open(L); /* before anybody keeps a library's functions */
    set_arg(L, p);
    embedded_open(L, coroutines_own_pcall);
    sources_add(L);
    folder_open(L);
    recorded_open(L);
    children_add(L);
    confine_add(L);
    fork_server_add(L);
    kernel_server_add(L);
    scratch_add(L);
    interrupt_add(L);
    mute_add(L);
    signals_add(L);
    deflate_open(L);
    if (o->display) {
        embedded_function(L, "repl/server/shown.lua", "open");
        lua_pushstring(L, o->display);
        lua_call(L, 1, 0);
    }
    if (o->warnings) lua_warning(L, "@on", 0);
}

static void print_version(void)
{
    printf("streamlab %s (%s)\n", STREAMLAB_VERSION, LUA_RELEASE);
    fflush(stdout);
}

/* The script's runs in draws. */
static int spread_begin(lua_State *L, const program *p)
{
    int n = p->argc - p->options->script;
    luaL_checkstack(L, n + 4, "too many arguments to script");
    embedded_function(L, "repl/run/spread.lua", "begin");
    lua_pushinteger(L, p->options->spread);
    for (int i = 0; i < n; i++)
        lua_pushstring(L, p->argv[p->options->script + i]);
    return run_report(L, run_call(L, n + 1, 0));
}

/* There is no script of that name: says on stderr which subcommand may be meant. */
static void suggest_subcommand(lua_State *L, const char *typed)
{
    embedded_function(L, "repl/run/options.lua", "suggest");
    lua_pushstring(L, typed);
    lua_call(L, 1, 0);
}

/* LUA_INIT, chunks, script and lines or requests, up to the first that fails; or the subcommand. */
static int run_all(lua_State *L, program *p)
{
    const options *o = p->options;
    if (o->request == REQUEST_SUBCOMMAND) return subcommand_run(L, p->argv[o->script]);
    bool has_script = o->script < p->argc;
    int status = o->ignore_environment ? LUA_OK : run_environment(L);
    for (int i = 0; i < o->n_chunks && status == LUA_OK; i++)
        status = run_chunk(L, &o->chunks[i]);
    if (has_script && status == LUA_OK && o->spread) status = spread_begin(L, p);
    if (has_script && status == LUA_OK) status = run_script(L, p->argv[o->script]);
    if (has_script && status == LUA_ERRFILE) suggest_subcommand(L, p->argv[o->script]);
    if (status != LUA_OK) return status;
    if (o->server) {
        p->again = server_run(L, &p->server);
    } else if (o->interactive) {
        console_run(L, o, false);
    } else if (!has_script && o->n_chunks == 0 && !o->show_version) {
        if (!isatty(STDIN_FILENO)) return run_script(L, "-");
        console_run(L, o, true);
    }
    return LUA_OK;
}

/* Protected; the light userdata is the program. */
static int run_program(lua_State *L)
{
    program *p = lua_touserdata(L, 1);
    lua_gc(L, LUA_GCSTOP); /* nearly all of it stays */
    open_state(L, p);
    lua_gc(L, LUA_GCRESTART);
    lua_settop(L, 0);
    if (p->options->show_version) print_version();
    if (run_all(L, p) != LUA_OK)
        p->exit_status = interrupt_ended_run() ? EXIT_INTERRUPTED : EXIT_SCRIPT;
    if (p->exit_status == EXIT_INTERRUPTED) lsl_leave();
    if (p->options->trace && !trace_save(L, p->options->trace, p->exit_status != EXIT_FINE)
        && p->exit_status == EXIT_FINE)
        p->exit_status = EXIT_SCRIPT;
    if (p->exit_status != EXIT_INTERRUPTED && !finish_devices(L, p->exit_status != EXIT_FINE))
        p->exit_status = EXIT_SCRIPT;
    if (interrupt_has_come() && !p->again) /* a stopped simulation need not finish */
        lsl_leave();
    return 0;
}

static int run_lua(program *p)
{
    lua_State *L = p->state ? p->state : memory_new_state();
    p->state = NULL;
    if (!L) {
        run_message("cannot create the Lua state: not enough memory");
        return EXIT_SCRIPT;
    }
    lua_pushcfunction(L, run_program);
    lua_pushlightuserdata(L, p);
    if (run_report(L, lua_pcall(L, 1, 0, 0)) != LUA_OK) p->exit_status = EXIT_SCRIPT;
    lua_close(L);
    if (!flush_stdout() && p->exit_status == EXIT_FINE) p->exit_status = EXIT_SCRIPT;
    return p->exit_status;
}

/* The sentence, and the first line of --help. */
static int usage_error(const options *o)
{
    run_message(o->problem);
    fprintf(stderr, "%.*s\n(streamlab --help has more)\n", (int)strcspn(o->help, "\n"), o->help);
    return EXIT_USAGE;
}

/* What the command line asks for; its exit status. */
static int obey(options *o, int argc, char **argv)
{
    char message[512];
    if (o->request == REQUEST_HELP) {
        fputs(o->help, stdout);
        return flush_stdout() ? EXIT_FINE : EXIT_SCRIPT;
    }
    if (o->request == REQUEST_VERSION) {
        print_version();
        return flush_stdout() ? EXIT_FINE : EXIT_SCRIPT;
    }
    if (o->trace && !trace_can_write(o->trace, message, sizeof message)) {
        run_message(message);
        return EXIT_USAGE;
    }
    if (!trial_open(o, message, sizeof message)) {
        run_message(message);
        return EXIT_USAGE;
    }
    if (o->display) setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* somebody watches */
    program p = { .options = o, .argc = argc, .argv = argv, .exit_status = EXIT_FINE };
    if (!o->server) { /* which runs again and again, with the same options */
        p.state = o->state;
        o->state = NULL;
    }
    if (o->server && !server_open(&p.server, o->requests, o->replies, message, sizeof message)) {
        run_message(message);
        return EXIT_USAGE;
    }
    int status;
    do {
        p.again = false;
        status = run_lua(&p);
    } while (p.again);
    if (o->server) server_close(&p.server);
    return status;
}

/* If stdout is closed, a file that is opened later would get its number, and what is written to
 * stdout would go into that file. /dev/null takes the free numbers; reading or writing it the
 * wrong way fails as with closed ones. */
static void occupy_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0) return;
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], KERNEL_SERVER) == 0) return kernel_server_main(argc, argv);
    occupy_standard_files();
    signals_abandon_files();
    options o = { .state = NULL };
    chunk *chunks = calloc((size_t)argc + 1, sizeof *chunks);
    int status = EXIT_SCRIPT;
    if (!chunks || !options_read(&o, chunks, argc, argv))
        run_message("not enough memory");
    else
        status = o.problem ? usage_error(&o) : obey(&o, argc, argv);
    options_close(&o);
    memory_close();
    free(chunks);
    return status;
}
