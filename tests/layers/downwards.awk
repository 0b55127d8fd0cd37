# downwards.awk - the tables of architecture.md beside the arrows of arrows.awk. A file takes nothing from a
# row above its own, except within a circle that is allowed, and each file of a room that has a table is in
# a row; so is each room in the core's table that has a row. It reads architecture.md, then the
# arrows; -v list=FILE: the circles. It prints a line for whatever differs.
BEGIN {
    while ((getline line < list) > 0) {
        if (line !~ /^[a-z]/) continue
        n = split(line, part, " ")
        for (i = 1; i <= n; i++) circle[part[i]] = part[1]
    }
}
function room_of(file) { return substr(file, 1, match(file, /[^\/]*$/) - 1) }
FNR == NR {
    if ($0 == "## The core's files") room = "core/"
    else if (/^## /) room = ""
    else if (/^`core\/[a-z]+\/`: /) room = substr($1, 2, index(substr($1, 2), "`") - 1)
    if (room == "" || !/^\| `/) next
    split($0, cell, "|")
    row[room]++
    while (match(cell[2], /`[^`]+`/)) {
        name = room substr(cell[2], RSTART + 1, RLENGTH - 2)
        if (name in row_of) print name " is in two rows"
        row_of[name] = row[room]
        table[name] = room
        cell[2] = substr(cell[2], RSTART + RLENGTH)
    }
    next
}
# What stands for the file in the table of `room`: itself, or its own room; "": nothing does.
function entry(file, room) {
    if (table[file] == room) return file
    return table[room_of(file)] == room ? room_of(file) : ""
}
{
    for (i = 1; i <= 2; i++)
        if (!seen[$i]++ && room_of($i) in row && !($i in row_of)) print $i " is in no row"
    if (circle[$1] != "" && circle[$1] == circle[$2]) next
    for (room in row) {
        a = entry($1, room)
        b = entry($2, room)
        if (a != "" && b != "" && row_of[b] < row_of[a] && !told[$1, $2]++)
            print $1 " takes " $3 " of " $2 ", which is in a row above"
    }
}
