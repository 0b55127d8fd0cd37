-- The visible tests.

local common = include "common.lua"

test("a matrix of 64 x 64 is transposed", {
    points = 5,
    hint = "y has cols rows and rows columns: element (i, j) of x is x[i * cols + j] in C, and in "
        .. "y it is y[j * rows + i].",
}, function(t, student)
    common.is_transpose(t, student.transpose(common.matrix(64, 64, 1)), 64, 64, 1, "64 x 64")
end)

test("other sizes go through a tile in shared memory", {
    points = 10,
    hint = "Round the grid up, and let no thread read or write outside of the matrices. But let "
        .. "all threads of a block reach __syncthreads(): the if is around the access, not around "
        .. "the barrier. The launch is in the current stream, which lab.with may have changed. "
        .. "Guide, chapter \"Kernels of your own\".",
}, function(t, student)
    common.transposed(t, student, 40, 100, 2)
    common.transposed(t, student, 100, 7, 3)
end)

test("transpose_all copies in both directions while kernels run", {
    points = 15, pace = { "1.1" },
    hint = "Two or three streams, each with an x and a y of its own: copy up, transpose, copy "
        .. "down. No wait in the loop, and one for each stream behind it. Guide, chapter "
        .. "\"Pipelines\".",
}, function(t, student)
    common.all_transposed(t, student, 50, 70, 7)
    common.overlaps(t, common.profile(student, 2048, 2048, 12), 12, 25)
    t:no_race("no matrix is used while another stream writes it")
end)
