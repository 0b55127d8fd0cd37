/* operand.c - the variable that a copy in a line of a Lua script is about.
 *
 * No parser: a line is read as far as it is plain, and where it is not, nothing is said.
 * Plain is one call of to, cuda, cpu or copy_ on a line without long brackets, on (or, for
 * what copy_ reads, with) a variable, its fields and its elements.
 */
#include "operand.h"

#include <ctype.h>
#include <string.h>

#define MOST_BYTES 512          /* of a line */
#define MOST_NAME 48

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The code of the line, with blanks for what stands in strings, up to a comment. False if
 * it is too long, or a string or a bracket of more than a line may begin or end in it. */
static bool take_code(const char *line, char code[MOST_BYTES])
{
    size_t n = strlen(line);
    char quote = '\0';
    if (n >= MOST_BYTES || strstr(line, "[[") || strstr(line, "[="))
        return false;
    for (size_t i = 0; i <= n; i++) {
        char c = line[i];
        code[i] = c;
        if (quote) {
            code[i] = c == '\0' ? c : ' ';
            if (c == '\\' && line[i + 1])
                code[++i] = ' ';
            else if (c == quote)
                quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
            code[i] = ' ';
        } else if (c == '-' && line[i + 1] == '-') {
            code[i] = '\0';
            break;
        }
    }
    return quote == '\0';
}

typedef struct method { const char *name; bool copies_given; } method;

/* The only call of a copying method: where its colon stands, and where its arguments
 * begin. NULL if there is none, or more than one. */
static const char *find_call(const char *code, const char **arguments, bool *copies_given)
{
    static const method methods[] = { { ":to", false }, { ":cuda", false }, { ":cpu", false },
                                      { ":copy_", true } };
    const char *found = NULL;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *at = code;
        while ((at = strstr(at, methods[i].name)) != NULL) {
            const char *end = at + strlen(methods[i].name);
            bool is_call = !is_name_char(*end) && at > code && at[-1] != ':';
            end += strspn(end, " \t");
            if (is_call && (*end == '(' || *end == '{' || *end == '\0')) {
                if (found)
                    return NULL;
                found = at;
                *arguments = end;
                *copies_given = methods[i].copies_given;
            }
            at++;
        }
    }
    return found;
}

static bool is_keyword(const char *name, size_t n)
{
    static const char *const words[] = { "and", "end", "false", "function", "in", "local", "nil",
                                         "not", "or", "return", "then", "true", "do", "else" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == n && strncmp(words[i], name, n) == 0)
            return true;
    }
    return false;
}

/* The length of the names that a variable begins with, "self.data" of "self.data[i]"; *end
 * is behind all of it. 0 if it is something else. */
static int read_variable(const char *at, const char **end)
{
    const char *start = at;
    do {
        at += at > start;
        const char *name = at;
        if (!is_name_start(*at))
            return 0;
        while (is_name_char(*at))
            at++;
        if (is_keyword(name, (size_t)(at - name)))
            return 0;
    } while (*at == '.' && at[1] != '.');
    int length = (int)(at - start);
    while (*at == '[') {
        int depth = 0;
        do {
            depth += (*at == '[') - (*at == ']');
            at++;
        } while (*at && depth > 0);
        if (depth > 0)
            return 0;
    }
    *end = at;
    return length <= MOST_NAME ? length : 0;
}

/* What the method is called on ends at `colon`; it begins where brackets and names do. */
static const char *receiver_start(const char *code, const char *colon)
{
    int depth = 0;
    const char *at = colon;
    for (; at > code; at--) {
        char c = at[-1];
        depth += (c == ']' || c == ')' || c == '}') - (c == '[' || c == '(' || c == '{');
        if (depth < 0 || (depth == 0 && !is_name_char(c) && c != '.' && c != '[' && c != '('
                          && c != '{'))
            break;
    }
    return at;
}

int sl__find_operand(const char *line, bool written, const char **name)
{
    char code[MOST_BYTES];
    const char *arguments = NULL, *end = NULL;
    bool copies_given = false;
    const char *colon = take_code(line, code) ? find_call(code, &arguments, &copies_given) : NULL;
    if (!colon || (written && !copies_given))
        return 0;
    bool given = copies_given && !written;
    const char *start = receiver_start(code, colon);
    if (given)
        start = *arguments == '(' ? arguments + 1 + strspn(arguments + 1, " \t") : "";
    int n = read_variable(start, &end);
    if (n == 0)
        return 0;
    if (given)
        end += strspn(end, " \t");
    if (given ? *end != ',' && *end != ')' : end != colon)
        return 0;
    *name = line + (start - code);
    return n;
}
