# kinds.awk - prints "FILE:LINE" for each `default:` of a switch over kinds: one that has a case with a
# name in KINDS. Where all kinds are named, the compiler (-Wswitch) finds the switches that lack one.
# Reads files that clang-format has formed: a switch ends with a brace that is as far in as it is.
BEGIN {
    KINDS = "^ *case \\(?(" \
        "SL_(WORK|CALL|SPAN|CAUSE|PLAIN|FAMILY|CAPTURE|ENGINE)_|" \
        "SL_(ALL_REDUCE|ALL_GATHER|REDUCE_SCATTER|BROADCAST|SEND|RECV|SUM|PROD|MAX|MIN|AVG)[: ]|" \
        "SL__(CALLED|ISSUE|NOTE|TASK|CAT)_|VALUE_|CUDA_FROM_)"
}
FNR == 1 { depth = 0 }
{
    match($0, /^ */)
    indent = RLENGTH
}
/^ *switch \(.*\) \{/ {
    depth++
    margin[depth] = indent
    of_kinds[depth] = default_line[depth] = 0
    next
}
depth > 0 && indent == margin[depth] && /^ *\}/ {
    if (of_kinds[depth] && default_line[depth]) print FILENAME ":" default_line[depth]
    depth--
    next
}
depth > 0 && indent == margin[depth] && /^ *default:/ { default_line[depth] = FNR }
depth > 0 && indent == margin[depth] && $0 ~ KINDS { of_kinds[depth] = 1 }
