/* signals.c - signals that end the program, and all while the prompt waits for what is typed.
 *
 * At the prompt they are blocked except in signals_wait, and the handler only notes that one came.
 */
#include "signals.h"

#include <errno.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/select.h>
#include <unistd.h>

#include "embedded.h"

void lsl_abandon_files(void); /* bindings/ */

/* SA_RESETHAND has restored the default action. */
static void end(int number)
{
    lsl_abandon_files();
    if (raise(number) != 0) /* a confined process may not */
        _exit(128 + number);
}

void signals_abandon_files(void)
{
    static const int ending[] = { SIGTERM, SIGHUP, SIGQUIT };
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction action = { .sa_handler = end, .sa_flags = (int)SA_RESETHAND }, old;
        sigemptyset(&action.sa_mask);
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
    }
}

/* ---- an end that waits for a point ----------------------------------------------- */

static volatile sig_atomic_t end_came;

static void note_end(int number)
{
    if (end_came) {
        signal(number, SIG_DFL);
        end(number);
    }
    end_came = 1;
}

/* One that is ignored at the start (nohup) stays ignored. */
static int hold_end(lua_State *L)
{
    (void)L;
    struct sigaction action = { .sa_handler = note_end }, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTERM, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGTERM, &action, NULL);
    return 0;
}

static int has_end_come(lua_State *L)
{
    lua_pushboolean(L, end_came);
    return 1;
}

void signals_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "hold_end", hold_end },
        { "end_came", has_end_come },
        { NULL, NULL },
    };
    embedded_add(L, functions);
}

/* ---- where nothing runs ------------------------------------------------------------ */

static void do_nothing(int number) { (void)number; }

/* With a handler, not SIG_IGN, which programs that are started would inherit. */
void signals_ignore_interrupts(struct sigaction *before)
{
    struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, before);
}

/* ---- at the prompt --------------------------------------------------------------- */

static const int numbers[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH };
enum { N_NUMBERS = sizeof numbers / sizeof numbers[0] };

/* A handler reaches nothing but globals. */
static volatile sig_atomic_t came[N_NUMBERS];
static struct sigaction before[N_NUMBERS];
static sigset_t mask_before;

static void note(int number)
{
    for (int i = 0; i < N_NUMBERS; i++) {
        if (numbers[i] == number) came[i] = 1;
    }
}

/* A signal that is ignored at the start (nohup) stays ignored, except SIGINT. */
static void catch (int i)
{
    struct sigaction action = { .sa_handler = note };
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, &before[i]);
    if (before[i].sa_handler == SIG_IGN && numbers[i] != SIGINT)
        sigaction(numbers[i], &before[i], NULL);
}

static void block_all(sigset_t *old)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < N_NUMBERS; i++)
        sigaddset(&ours, numbers[i]);
    sigprocmask(SIG_BLOCK, &ours, old);
}

void signals_hold(void)
{
    block_all(&mask_before);
    for (int i = 0; i < N_NUMBERS; i++) {
        came[i] = 0;
        catch (i);
    }
}

void signals_release(void)
{
    for (int i = 0; i < N_NUMBERS; i++)
        sigaction(numbers[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* Takes one that came; 0: none. */
static int take(void)
{
    for (int i = 0; i < N_NUMBERS; i++) {
        if (came[i]) {
            came[i] = 0;
            return numbers[i];
        }
    }
    return 0;
}

int signals_wait(int descriptor)
{
    for (;;) {
        int number = take();
        if (number) return number;
        fd_set set;
        FD_ZERO(&set);
        FD_SET(descriptor, &set);
        int n = pselect(descriptor + 1, &set, NULL, NULL, NULL, &mask_before);
        bool failed = n < 0 && errno != EINTR;
        /* Where both are there, pselect may leave the signal pending. */
        sigprocmask(SIG_SETMASK, &mask_before, NULL);
        block_all(NULL);
        number = take();
        if (number || n > 0 || failed) return number;
    }
}

void signals_obey(int number)
{
    int i = 0;
    while (i < N_NUMBERS - 1 && numbers[i] != number)
        i++;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigaction(number, &before[i], NULL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here it takes effect */
    sigprocmask(SIG_BLOCK, &one, NULL);
    catch (i);
}
