-- pairs.lua - the small programs that are run in PyTorch and in streamlab: a list of
--   name     of the pair
--   rows     the cells of the tables "From PyTorch" that it stands for, as they are written there
--   python   the program in PyTorch; what it has besides `torch` is in observe.py
--   lua      the same in streamlab, line by line; what it has besides `lab` is in ours.lua
--   of       the entries of docs/api that it is about, whose `differs` says what `here` shows
--   here     the lines that the Lua shows on the simulator where PyTorch shows others
--   plain    those that are so only without lab.torch_defaults()
-- in files by subject.

local list = {}
for _, subject in ipairs { "streams", "events", "copies", "memory", "tensors", "kernels",
    "devices" } do
    for _, pair in ipairs(require("torch.pairs." .. subject)) do
        list[#list + 1] = pair
    end
end
return list
