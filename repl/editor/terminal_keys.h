/* terminal_keys.h - bytes from the terminal as keys: characters, and those that have none. */
#ifndef REPL_TERMINAL_KEYS_H
#define REPL_TERMINAL_KEYS_H

#include <wchar.h>

/* Control characters are themselves: 1 is Ctrl-A. What is from KEY_UP on is no character. */
enum {
    KEY_CTRL_A = 1,
    KEY_CTRL_B,
    KEY_CTRL_D = 4,
    KEY_CTRL_E,
    KEY_CTRL_F,
    KEY_CTRL_G,
    KEY_CTRL_H,
    KEY_TAB,
    KEY_NEWLINE,
    KEY_CTRL_K,
    KEY_CTRL_L,
    KEY_RETURN,
    KEY_CTRL_N,
    KEY_CTRL_P = 16,
    KEY_CTRL_R = 18,
    KEY_CTRL_T = 20,
    KEY_CTRL_U,
    KEY_CTRL_W = 23,
    KEY_CTRL_Y = 25,
    KEY_ESCAPE = 27,
    KEY_UNDO = 31, /* Ctrl-_ */
    KEY_RUBOUT = 127,
    KEY_UP = 0x110000,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_CUT_WORD_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_PASTE,   /* a pasted block follows, up to ESC[201~ */
    KEY_UNKNOWN, /* a sequence that means nothing here */
    KEY_SIGNAL,  /* *signal has come */
    KEY_EOF      /* the terminal is gone */
};

/* Waits for a key on stdin. Between signals_hold and signals_release. */
wint_t keys_read(int *signal);

/* The same for a character as it is. */
wint_t keys_read_character(int *signal);

/* Whether more has been typed already. */
int keys_pending(void);

#endif
