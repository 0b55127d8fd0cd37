/* options.c - the program's command line, read into a struct.
 *
 * Short options are lua5.4's. Long ones take their value as --name value or
 * --name=value.
 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"

const char options_usage[] = "usage: streamlab [options] [script [args]]";

const char options_help[] =
    "usage: streamlab [options] [script [args]]\n"
    "       streamlab lab|probe|calibrate|compare|predict|show|diff|help ...\n"
    "       streamlab work|merge|sbatch PLAN ...\n"
    "Runs a Lua script with the laboratory in the global `lab`.\n"
    "\n"
    "as lua5.4:\n"
    "  -e STAT           run the string STAT\n"
    "  -i                read and run lines from stdin after the script\n"
    "  -l MOD, -l G=MOD  require MOD into the global MOD, or G\n"
    "  -v                print the version\n"
    "  -E                ignore environment variables\n"
    "  -W                turn warnings on\n"
    "  --                stop handling options\n"
    "  -                 run stdin as a script\n"
    "the laboratory:\n"
    "  --backend NAME    cuda, a real GPU, or sim, the simulated one; without it\n"
    "                    cuda if a GPU answers\n"
    "  --device N        the backend's device number N, from 0\n"
    "  --devices N       how many GPUs the simulated machine has, 1 to 64\n"
    "  --profile NAME    the simulated GPU: h200, ... or a profile's file\n"
    "  --host NAME       the simulated host: that of another profile, or of a file\n"
    "  --seed N          the seed of random tensors\n"
    "  --tune            measure how the first matmul of each shape is fastest on a\n"
    "                    real GPU, and keep that for later runs\n"
    "  --spread N        first run the script N times in draws from the profile's\n"
    "                    uncertain figures; what it records then has a range\n"
    "  --trace FILE      record the whole run and save it; FILE ends in .json,\n"
    "                    .json.gz, .svg, .html, .et or .goal\n"
    "  --check[=MODE]    look for races: warn (default) reports them on stderr, error\n"
    "                    raises where one would happen\n"
    "  --server[=IN,OUT] answer requests that come as lines of JSON on descriptor IN\n"
    "                    (3) with lines on OUT (4), for notebooks and editors\n"
    "  --display FILE    also write what scripts show there, as the events that\n"
    "                    --server sends: timelines as pages, plots as pictures\n"
    "subcommands, each with --help:\n"
    "  lab ...           course labs: check, grade, new, pack\n"
    "  probe             what CUDA's calls do to the host and to streams\n"
    "  calibrate         measures a GPU: a profile for the simulator\n"
    "  compare SCRIPT... scripts on the GPU and on the simulator, side by side\n"
    "  predict SCRIPT... between which times scripts' makespans lie, and why\n"
    "  show FILE         a trace file as chart, figures and explanation, or as a picture\n"
    "  diff A B          two trace files side by side, and what moved\n"
    "  work PLAN         works on the points of a plan, also on other machines\n"
    "  merge PLAN        the table of what was worked on\n"
    "  sbatch PLAN       a script with which Slurm works on a plan\n"
    "  help [NAME]       help about a function, or the list of all pages\n"
    "others:\n"
    "  --color WHEN      auto (default), always or never\n"
    "  --norc            do not run the REPL's start file\n"
    "  --version         print the version and stop\n"
    "  --help            print this and stop\n"
    "Without a script, lines are read from stdin if it is a terminal, and all of\n"
    "stdin is run as a script if not.\n"
    "Exit status: 0 success, 1 error in a script, 2 wrong usage, 130 Ctrl-C.\n";

/* Reading in progress. */
typedef struct reader {
    options *options;
    int argc;
    char **argv;
    int next; /* index of the argument to read next */
    char *message;
    int message_bytes;
} reader;

__attribute__((format(printf, 2, 3))) static bool wrong(reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->message, (size_t)r->message_bytes, fmt, args);
    va_end(args);
    return false;
}

/* ---- values ------------------------------------------------------------ */

static bool take_number(reader *r, const char *name, const char *text, long long *number)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0')
        return wrong(r, "--%s needs a whole number from 0, got '%s'", name, text);
    if (errno == ERANGE) return wrong(r, "--%s: %s is too large", name, text);
    *number = value;
    return true;
}

static bool take_device(reader *r, const char *text)
{
    options *o = r->options;
    o->has_device = true;
    if (!take_number(r, "device", text, &o->device)) return false;
    if (o->device > 1023)
        return wrong(r, "--device: there are no more than 1024 devices, got %s", text);
    return true;
}

static bool take_devices(reader *r, const char *text)
{
    long long number;
    if (!take_number(r, "devices", text, &number)) return false;
    if (number < 1 || number > 64)
        return wrong(r, "--devices needs a whole number from 1 to 64, got %s", text);
    r->options->devices = (int)number;
    return true;
}

static bool take_seed(reader *r, const char *text)
{
    r->options->has_seed = true;
    return take_number(r, "seed", text, &r->options->seed);
}

static bool take_spread(reader *r, const char *text)
{
    long long number;
    if (!take_number(r, "spread", text, &number)) return false;
    if (number < 2 || number > 1000)
        return wrong(r, "--spread needs a whole number from 2 to 1000, got %s", text);
    r->options->spread = (int)number;
    return true;
}

static bool take_backend(reader *r, const char *text)
{
    if (strcmp(text, "sim") != 0 && strcmp(text, "cuda") != 0)
        return wrong(r, "--backend needs 'sim' or 'cuda', got '%s'", text);
    r->options->backend = text;
    return true;
}

static bool take_profile(reader *r, const char *text)
{
    if (text[0] == '\0') return wrong(r, "--profile needs a name or a file, got ''");
    r->options->profile = text;
    return true;
}

static bool take_host(reader *r, const char *text)
{
    if (text[0] == '\0') return wrong(r, "--host needs a profile's name or a file, got ''");
    r->options->host = text;
    return true;
}

static bool has_suffix(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n > m && strcmp(text + n - m, suffix) == 0;
}

static bool take_trace(reader *r, const char *text)
{
    static const char *const suffixes[] = { ".json", ".json.gz", ".svg", ".html", ".et", ".goal" };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (has_suffix(text, suffixes[i])) {
            r->options->trace = text;
            return true;
        }
    }
    return wrong(
        r,
        "--trace needs a file that ends in .json, .json.gz, .svg, .html, .et or .goal, got "
        "'%s'",
        text);
}

static bool take_display(reader *r, const char *text)
{
    if (text[0] == '\0') return wrong(r, "--display needs a file, got ''");
    r->options->display = text;
    return true;
}

static bool take_colour(reader *r, const char *text)
{
    static const char *const choices[] = { "auto", "always", "never" };
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            r->options->colour = choices[i];
            return true;
        }
    }
    return wrong(r, "--color needs 'auto', 'always' or 'never', got '%s'", text);
}

static bool is_check_mode(const char *text)
{
    return strcmp(text, "warn") == 0 || strcmp(text, "error") == 0;
}

/* `text` is NULL for --check alone. The mode must be part of the word: --check MODE would take
 * MODE as the script. */
static bool take_check(reader *r, const char *text)
{
    const char *next = r->next < r->argc ? r->argv[r->next] : "";
    if (!text && is_check_mode(next))
        return wrong(r,
                     "--check takes its mode behind '=', as --check=%s (to run a script of that"
                     " name, write ./%s)",
                     next, next);
    if (text && !is_check_mode(text))
        return wrong(r, "--check takes 'warn' or 'error', as --check=error, got '%s'", text);
    r->options->check = text ? text : "warn";
    return true;
}

/* `text` is NULL for --server alone: descriptors 3 and 4. */
static bool take_server(reader *r, const char *text)
{
    char behind;
    options *o = r->options;
    o->server = true;
    o->requests = 3;
    o->replies = 4;
    if (text
        && (sscanf(text, "%4d,%4d%c", &o->requests, &o->replies, &behind) != 2 || o->requests < 0
            || o->replies < 0))
        return wrong(r, "--server takes two descriptors behind '=', as --server=3,4, got '%s'",
                     text);
    return true;
}

/* ---- options ----------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*take)(reader *r, const char *text);
} valued[] = {
    { "backend", take_backend }, { "color", take_colour },    { "device", take_device },
    { "devices", take_devices }, { "display", take_display }, { "host", take_host },
    { "profile", take_profile }, { "seed", take_seed },       { "spread", take_spread },
    { "trace", take_trace },
};

/* Whether it is the name without one or two of its letters. */
static bool is_shortened(const char *text, const char *name)
{
    size_t lacks = strlen(name) - strlen(text);
    if (strlen(text) < 3 || strlen(text) >= strlen(name) || lacks > 2) return false;
    for (; *name; name++)
        text += *text == *name;
    return *text == '\0';
}

static bool refuse_name(reader *r, const char *name)
{
    static const char *const plain[] = { "check", "server", "help", "norc", "tune", "version" };
    const char *meant = NULL;
    for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++)
        if (is_shortened(name, valued[i].name)) meant = valued[i].name;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (is_shortened(name, plain[i])) meant = plain[i];
    if (!meant) return wrong(r, "unrecognized option '--%s'", name);
    return wrong(r, "unrecognized option '--%s'; did you mean --%s?", name, meant);
}

/* A long option that takes no value, or may do without; `text` is NULL for none. */
static bool read_plain(reader *r, const char *name, const char *text)
{
    if (strcmp(name, "check") == 0) return take_check(r, text);
    if (strcmp(name, "server") == 0) return take_server(r, text);
    bool help = strcmp(name, "help") == 0, norc = strcmp(name, "norc") == 0;
    bool tune = strcmp(name, "tune") == 0;
    if (!help && !norc && !tune && strcmp(name, "version") != 0) return refuse_name(r, name);
    if (text) return wrong(r, "--%s takes no value", name);
    if (norc)
        r->options->no_rc = true;
    else if (tune)
        r->options->tune = true;
    else if (r->options->request == REQUEST_RUN)
        r->options->request = help ? REQUEST_HELP : REQUEST_VERSION;
    return true;
}

/* --name, --name value, --name=value */
static bool read_long(reader *r, const char *text)
{
    char name[32];
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    if (n >= sizeof name) return wrong(r, "unrecognized option '--%s'", text);
    memcpy(name, text, n);
    name[n] = '\0';
    for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++) {
        if (strcmp(name, valued[i].name) != 0) continue;
        if (!equals && r->next >= r->argc) return wrong(r, "--%s needs a value", name);
        return valued[i].take(r, equals ? equals + 1 : r->argv[r->next++]);
    }
    return read_plain(r, name, equals ? equals + 1 : NULL);
}

/* -e and -l: the text stands behind the letter or is the next argument. */
static bool read_chunk(reader *r, const char *argument)
{
    options *o = r->options;
    const char *text = argument + 2;
    if (text[0] == '\0') {
        bool missing = r->next >= r->argc;
        if (missing || (r->argv[r->next][0] == '-' && argument[1] == 'l'))
            return wrong(r, "'%s' needs an argument", argument);
        text = r->argv[r->next++];
    }
    o->chunks[o->n_chunks].letter = argument[1];
    o->chunks[o->n_chunks++].text = text;
    return true;
}

static bool read_short(reader *r, const char *argument)
{
    options *o = r->options;
    if (argument[1] == 'e' || argument[1] == 'l') return read_chunk(r, argument);
    if (argument[2] != '\0') return wrong(r, "unrecognized option '%s'", argument);
    switch (argument[1]) {
    case 'i': o->interactive = true; return true;
    case 'v': o->show_version = true; return true;
    case 'E': o->ignore_environment = true; return true;
    case 'W': o->warnings = true; return true;
    default: return wrong(r, "unrecognized option '%s'", argument);
    }
}

/* Whether there is a subcommand of that name: repl/commands has a file for each. */
static bool subcommand_exists(const char *name)
{
    char path[64];
    int n = snprintf(path, sizeof path, "repl/commands/%s.lua", name);
    return n > 0 && (size_t)n < sizeof path && embedded_exists(path);
}

/* A subcommand may come first or after options that name a device; after options for scripts the
 * same word is a script's name. */
static bool is_subcommand(const reader *r, bool options_ended)
{
    const options *o = r->options;
    bool for_scripts = o->n_chunks > 0 || o->interactive || o->server || o->show_version || o->trace
                       || o->check || o->spread;
    return r->next < r->argc && !options_ended && !for_scripts && o->request == REQUEST_RUN
           && subcommand_exists(r->argv[r->next]);
}

bool options_read(options *o, chunk *chunks, int argc, char **argv, char *message,
                  int message_bytes)
{
    memset(o, 0, sizeof *o);
    o->chunks = chunks;
    o->script = argc;
    o->colour = "auto";
    reader r = { o, argc, argv, 1, message, message_bytes };
    bool ended = false;
    while (r.next < argc) {
        const char *argument = argv[r.next];
        if (argument[0] != '-' || argument[1] == '\0') break;
        r.next++;
        if (strcmp(argument, "--") == 0) {
            ended = true;
            break;
        }
        bool fine = argument[1] == '-' ? read_long(&r, argument + 2) : read_short(&r, argument);
        if (!fine) return false;
    }
    o->script = r.next;
    if (is_subcommand(&r, ended)) o->request = REQUEST_SUBCOMMAND;
    bool has_script = o->script < argc && strcmp(argv[o->script], "-") != 0;
    if (o->spread && !has_script && o->request == REQUEST_RUN)
        return wrong(&r, "--spread needs a script's file: it runs several times");
    return true;
}
