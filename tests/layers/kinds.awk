# kinds.awk - prints "FILE:LINE" for each `default:` of a switch over kinds: one that has a case of
# SL_WORK_, SL_CALL_, SL_SPAN_, SL_CAUSE_, SL_PLAIN_, SL_FAMILY_, SL_COLLECTIVE_ or SL_CAPTURE_. Where
# all kinds are named, the compiler (-Wswitch) finds the switches that lack a new one.
# Reads files that clang-format has formed: a switch ends with a brace that is as far in as it is.
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
depth > 0 && indent == margin[depth] && \
    /^ *case \(?SL_(WORK|CALL|SPAN|CAUSE|PLAIN|FAMILY|COLLECTIVE|CAPTURE)_/ { of_kinds[depth] = 1 }
