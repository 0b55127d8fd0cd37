-- lab.lua - the command line of streamlab lab.

local values = import "repl/run/values.lua"

return {
    usage = "streamlab lab check|grade|new|pack|print ...",
    about = [[
Course labs: a lab is a folder with a task, a starter and tests; a submission is
one Lua file. It is graded on a simulated GPU: no machine needs a real one,
and every machine gives the same score.]],
    { title = "what it does",
        { "check [LABDIR] [FILE.lua]", [[
            runs the visible tests and prints the results as TAP, with a
            chart where a timing test fails. Without LABDIR the folder
            of FILE; without FILE submission.lua in it, or starter.lua]] },
        { "grade LABDIR FILE.lua|FOLDER", [[
            runs all tests of one submission, or of each in a folder
            (NAME.lua, or a folder NAME with one .lua file) and prints a
            line for each student]] },
        { "new FOLDER", "writes a small lab to start from" },
        { "pack LABDIR [-o FOLDER]", [[
            tests the lab itself, then writes ID-student.zip, for
            students, and ID-gradescope.zip, an autograder for
            Gradescope, into FOLDER (default: here)]] },
        { "-o, --output FOLDER", of = "pack", read = values.some },
        { "print LABDIR/wrong/NAME.change", [[
            prints the program that a change makes of the solution, with
            the lines that messages count]] } },
    { title = "options of check and grade",
        { "-v, --verbose", of = "check grade", "also the values of assertions that passed" } },
    { title = "options of grade",
        { "-o, --output FILE", of = "grade", read = values.some, [[
            write the results; for a class as gradescope: a folder,
            which is made, and into which NAME.json is written as soon
            as the student is graded]] },
        { "--format FORMAT", of = "grade", one_of = values.result_formats, [[
            gradescope (results.json), tap, junit or csv; without it by
            FILE's suffix: .json .tap .xml .csv. For one submission
            without -o: print the results instead of a line]] },
        { "-j, --jobs N", of = "grade", read = values.whole(1, 1024), [[
            tests to run at a time; without it one for each processor,
            on a real GPU one]] },
        { "--plan FILE.jsonl", of = "grade", read = values.file ".jsonl", [[
            grade nothing yet, and write a plan: streamlab work FILE
            grades, on any number of machines, and streamlab merge FILE
            gives the results]] } },
    { title = "others" },
    ending = [[
`streamlab --backend cuda lab grade ...` grades on the real GPU.
Exit status: 0 success (check: all passed; grade: whatever the points are),
1 check: not all passed; grade: a test could not be run, there is no such lab
or submission, or results cannot be written; pack: the lab does not grade as it
says; 2 wrong usage.]],
}
