-- all.lua - what this project states about streams: each fact once, with its source, by topics.
--
-- tests/repl/66-facts.t.lua checks from these files that the pages named here state a fact and
-- that no page contradicts it; tests/both/facts.t.lua runs the facts that can be run. `make docs`
-- makes docs/reference/facts.md of them. tests/lua/66-facts-gpus.t.lua runs those of every GPU on
-- all simulated ones.
--
-- A topic is a list of facts with a title. A fact is {
--     id =
--     fact =           one sentence or two
--     holds =          for which GPUs and versions, or for the laboratory alone
--     h200 =           true: measured on one GPU, so that others may do otherwise
--     gpus =           2: running it takes two GPUs, and NCCL on real ones
--     source =         a list of names in sources.lua; empty where no public source was found
--     measured =       a page of this repository with the measurement
--     stated =         a list of {page, words}: the words stand on the page
--     never =          a list of {pattern, sentence}: no page has the pattern, outside of
--                      quotation marks; it is one of Lua in lower case, and matches the sentence,
--                      which is how it was once said wrongly
--     pair =           the pair of programs in tests/torch that runs it with PyTorch
--     not_run =        why it is not run; else it has a pair, or tests/both/observed.lua its id
-- }
-- In pages line breaks, backticks and asterisks do not count.

local topics = {}
for i, name in ipairs { "streams", "copies", "memory", "null_stream", "events", "host",
    "priorities", "graphs", "kernels", "several_gpus", "pytorch", "tools" } do
    topics[i] = import("docs/facts/" .. name .. ".lua")
end
return topics
