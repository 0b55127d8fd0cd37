/* program_compiled_none.c - no compiled files of the program: each is compiled when it is loaded.
 */
#include "embedded.h"

const embedded_file compiled_files[] = { { NULL, NULL, 0 } };
