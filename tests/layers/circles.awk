# circles.awk - the circles of files that need each other, beside the list of those that may be.
# It reads arrows ("FROM TO NAME"). -v list=FILE: the circles that are allowed, each a paragraph: a line with its
# files, then why it must be, indented. It prints a line for whatever differs, and nothing else. With
# -v files=1 it prints the circles, and with files=2 the names that tie them, too.
BEGIN {
    while ((getline line < list) > 0) {
        if (line ~ /^[a-z]/) {
            n_listed++
            n = split(line, part, " ")
            for (i = 1; i <= n; i++) listed[in_list[++n_names] = part[i]] = n_listed
            first[n_listed] = part[1]
        } else if (line ~ /^ +[^ ]/) {
            has_reason[n_listed] = 1
        }
    }
}
{
    seen[$1] = seen[$2] = 1
    if (!(($1, $2) in names)) outgoing[$1] = outgoing[$1] " " $2
    names[$1, $2] = names[$1, $2] " " $3
}
# Strongly connected components, by Tarjan.
function visit(file,    to, n, i, top) {
    number[file] = low[file] = ++numbers
    stack[++depth] = file
    on_stack[file] = 1
    n = split(outgoing[file], to, " ")
    for (i = 1; i <= n; i++) {
        if (!(to[i] in number)) {
            visit(to[i])
            if (low[to[i]] < low[file]) low[file] = low[to[i]]
        } else if (on_stack[to[i]] && number[to[i]] < low[file]) {
            low[file] = number[to[i]]
        }
    }
    if (low[file] != number[file]) return
    if (stack[depth] != file) n_circles++
    for (top = stack[depth] != file; ; ) {
        to[1] = stack[depth--]
        on_stack[to[1]] = 0
        if (top) circle[to[1]] = n_circles
        if (to[1] == file) break
    }
}
function sort(a, n,    i, j, held) {
    for (i = 2; i <= n; i++) {
        held = a[i]
        for (j = i - 1; j > 0 && a[j] > held; j--) a[j + 1] = a[j]
        a[j + 1] = held
    }
}
# One arrow in each direction, as a reason to believe it.
function ties(file, c,    i, out, back) {
    for (i = 1; i <= n_sorted; i++) {
        if (circle[sorted[i]] != c) continue
        if (out == "" && (file, sorted[i]) in names) out = " takes" names[file, sorted[i]] " of " sorted[i]
        if (back == "" && (sorted[i], file) in names) back = ", and " sorted[i] " takes" names[sorted[i], file] " of it"
    }
    return file out back
}
END {
    for (file in seen) sorted[++n_sorted] = file
    sort(sorted, n_sorted)
    for (i = 1; i <= n_sorted; i++) if (!(sorted[i] in number)) visit(sorted[i])
    for (i = 1; i <= n_sorted; i++) {
        file = sorted[i]
        if (!(file in circle)) continue
        c = circle[file]
        text[c] = text[c] " " file
        if (!allowed[c] && file in listed) allowed[c] = listed[file]
    }
    for (c = 1; files && c <= n_circles; c++) {
        print substr(text[c], 2)
        n = files > 1 ? split(text[c], part, " ") : 0
        for (i = 1; i <= n; i++)
            for (j = 1; j <= n; j++)
                if ((part[i], part[j]) in names) print "  " part[i] " -> " part[j] ":" names[part[i], part[j]]
    }
    if (files) exit
    for (c = 1; c <= n_circles; c++) {
        if (!allowed[c])
            print "a new circle:" text[c] ": " ties(substr(text[c], 2, index(substr(text[c], 2), " ") - 1), c)
        else if (part_of[allowed[c]])
            print "the circle of " first[allowed[c]] " is in two parts now:" text[part_of[allowed[c]]] " and" text[c]
        else
            part_of[allowed[c]] = c
    }
    for (i = 1; i <= n_sorted; i++) {
        file = sorted[i]
        c = circle[file]
        if (c && allowed[c] && listed[file] != allowed[c])
            print file " has joined the circle of " first[allowed[c]] ": " ties(file, c)
    }
    for (i = 1; i <= n_names; i++)
        if (!circle[in_list[i]])
            print in_list[i] " is no longer in a circle: take it out of the list, where " first[listed[in_list[i]]] " is"
    for (i = 1; i <= n_listed; i++) if (!has_reason[i]) print "no reason is given for the circle of " first[i]
}
