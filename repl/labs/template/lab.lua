-- lab.lua - what this lab is. `streamlab lab check`, `grade` and `pack` read it.
return {
    -- Part of the names of the files that `streamlab lab pack` writes.
    id = "copy-and-compute",
    title = "Copy while you compute",

    -- What all tests are worth together: the points of tests/*.lua must sum up to this.
    points = 100,

    -- The simulated GPU that is graded on: a name (`streamlab probe --help` has more), or a file
    -- beside this one. A submission gets the same points on every machine.
    profile = "textbook",

    -- The global functions that a submission defines. Tests call them as student.NAME.
    functions = { "step" },

    -- What one test may use; these are the defaults, so that this line could be left out.
    limits = { processor_s = 5, wall_s = 20, memory_mib = 512, output_kib = 64 },

    -- Calls that every test demands or refuses, by name: "lab.matmul", "tensor:to",
    -- "stream:synchronize", "lab.cuda.*". A single test can have lists of its own.
    required = {},
    forbidden = { "lab.cuda.*" },

    -- With this line submissions have lab.kernel, for kernels of their own in CUDA C++. Whoever
    -- grades them needs a C++ compiler:
    -- kernels = true,

    -- When Gradescope shows the results of tests/hidden.lua: "hidden", "after_due_date",
    -- "after_published" (the default) or "visible".
    hidden_visibility = "after_published",
}
