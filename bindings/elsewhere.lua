-- elsewhere.lua - what streamlab has instead of a name of CUDA or PyTorch: the page
-- docs/api/elsewhere.lua, looked up by the names that people write.

local _, core = ...

local page = load(core.embedded("docs/api/elsewhere.lua"), "=streamlab", "t", _ENV)()

-- Names are compared in lower case.
local exact, beginnings, longest = {}, {}, 0
for _, item in ipairs(page.missing) do
    for name in item[1]:lower():gsub(":", "."):gmatch("%S+") do
        if name:find("%*$") then
            beginnings[name:sub(1, -2)] = item[2]
            longest = math.max(longest, #name)
        else
            exact[name] = item[2]
        end
    end
end

local function find(name)
    name = name:lower()
    for n = exact[name] and 0 or math.min(#name, longest), 1, -1 do
        local text = beginnings[name:sub(1, n)]
        if text then return text end
    end
    return exact[name]
end

-- Prefixes to try for a name in one of streamlab's tables or objects, or in a common module of
-- PyTorch. "%" stands for a CUDA name: cudaMallocManaged for malloc_managed.
local places = {
    lab = { "lab.", "torch.", "torch.cuda.", "cuda%", "" },
    ["lab.cuda"] = { "lab.cuda.", "cuda%", "torch.cuda.", "", "lab.", "torch." },
    tensor = { "tensor.", "torch." }, ["torch.Tensor"] = { "tensor.", "torch." },
    stream = { "stream.", "cudaStream%" }, ["torch.cuda.Stream"] = { "stream.", "torch.cuda." },
    event = { "event.", "cudaEvent%" }, ["torch.cuda.Event"] = { "event.", "torch.cuda." },
    graph = { "graph." }, ["torch.cuda.CUDAGraph"] = { "graph." },
    nn = { "torch.nn." }, F = { "torch.nn.functional." }, dist = { "torch.distributed." },
    optim = { "torch.optim." }, cuda = { "torch.cuda." },
}

local function find_in(places_of_owner, key)
    for _, place in ipairs(places_of_owner or {}) do
        local beginning, of_cuda = place:gsub("%%", "")
        local text = find(beginning .. (of_cuda > 0 and key:gsub("_", "") or key))
        if text then return text end
    end
end

-- What streamlab has instead of a name, "torch.nn.Linear", "lab.compile", "tensor.shape"; nil if
-- the page does not have it. Words may have spaces or hyphens: "green context". If `marked`,
-- streamlab's names are in backticks.
function core.find_elsewhere(name, marked)
    name = name:gsub(":", "."):gsub("[ -]", "_")
    local owner, key = name:match("^(.+)%.([^.]+)$")
    local inner = name:match("^lab%.(.+)$")
    local text = find_in(places[owner], key) or find(name) or inner and find("torch." .. inner)
    return text and not marked and text:gsub("`", "") or text
end
