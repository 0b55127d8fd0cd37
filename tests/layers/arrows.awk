# arrows.awk - which file needs which: "FROM TO NAME" for each function or variable that one file takes from
# another. It reads what `nm -A -P -g` says of the objects, whose paths are those of their sources.
# A name that several files define, of which the program gets one, is nobody's. core/backends.c, the
# registry of backends, needs them all by its nature, and is no arrow.
function source(object) {
    if (sub(/\.cu\.o:$/, ".cu", object) == 0) sub(/\.o:$/, ".c", object)
    return object
}
$1 !~ /\.o:$/ || NF < 3 { next }
$3 ~ /^[A-TV-Z]$/ {
    owners[$2]++
    owner[$2] = source($1)
}
$3 == "U" {
    from[++n] = source($1)
    name[n] = $2
}
END {
    for (i = 1; i <= n; i++)
        if (owners[name[i]] == 1 && from[i] != "core/backends.c")
            print from[i], owner[name[i]], name[i]
}
