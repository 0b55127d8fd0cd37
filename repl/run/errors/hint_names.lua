-- hint_names.lua - hints about undefined names: those of Python, PyTorch and CUDA, misspelt ones,
-- and locals of other places.

local api = import "repl/run/api.lua"
local tokens = import "repl/run/tokens.lua"

local names = {}

local lab_table <const> = lab

-- ---- names of other languages ------------------------------------------------------------

local nothing <const> = "nothing is written nil"
local counting <const> = "a loop over numbers is written for i = 1, 10 do ... end"
local in_math <const> = "it is in math: math.%s"

-- Calls and values of Python and C by their names: the hint.
local foreign <const> = {
    None = nothing, null = nothing, NULL = nothing, nullptr = nothing, undefined = nothing,
    True = "true is lower case", False = "false is lower case",
    range = counting, xrange = counting,
    len = "the length is #x; of a tensor, x:numel() or x:size(1)",
    str = "tostring(x) makes a text of it",
    int = "math.floor(x) gives a whole number, x // 1 as well",
    float = "tonumber(text) makes a number of it",
    list = "lists are written { 1, 2 }", dict = "tables are written { name = value }",
    tuple = "a function can return several values: return a, b",
    enumerate = "for i, value in ipairs(list) do ... end counts from 1",
    zip = "for i = 1, #a do ... end goes through two lists by their index",
    input = "io.read() reads a line", printf = "print((\"%d\"):format(x))",
    sprintf = "(\"%d\"):format(x)", format = "(\"%d\"):format(x)",
    open = "io.open(name) opens a file", exit = "os.exit() leaves; at the prompt .quit",
    quit = "os.exit() leaves; at the prompt .quit", isinstance = "type(x) names the type",
    append = "table.insert(list, x), or list[#list + 1] = x",
    sorted = "table.sort(list) sorts in place",
    sum = "of a tensor it is x:sum()", sleep = "lab.host_work(ms) keeps the host busy",
    malloc = "lab.cuda.malloc(bytes), or a tensor: lab.empty(n)",
    np = "numbers are in tensors: lab.tensor({ { 1, 2 }, { 3, 4 } })",
    numpy = "numbers are in tensors: lab.tensor({ { 1, 2 }, { 3, 4 } })",
    try = "errors are caught by local fine, err = pcall(f)",
    time = "lab.now_us() reads the host's clock, lab.host_work(ms) keeps the host busy",
    dir = "Tab behind \"x.\" or \"x:\" lists what x has, and ?x tells about it",
    sizeof = "x:nbytes() of a tensor, #x of a text or a list", cout = "print(x, y) prints",
    std = "what there is has other names here: print(x), math.sqrt(x), table.sort(list)",
    sys = "the arguments are in arg", console = "print(x) prints", elif = "elif is written elseif",
}
for name in ("abs ceil floor max min sqrt exp log sin cos tan pi huge"):gmatch("%a+") do
    foreign[name] = in_math:format(name)
end

-- Methods of Python's lists and strings, which tables do not have.
local foreign_methods <const> = {
    append = "table.insert(list, x), or list[#list + 1] = x",
    push = "table.insert(list, x), or list[#list + 1] = x",
    pop = "table.remove(list)", items = "for key, value in pairs(t) do ... end",
    keys = "for key in pairs(t) do ... end", join = "table.concat(list, \", \")",
}

-- Whether the entry is called like that: event:record for cudaEventRecord.
local function is_spelt_so(entry, name)
    local own = (entry.class or "") .. entry.key
    return name:lower() == "cuda" .. own:gsub("_", "")
end

-- The laboratory's names for those of PyTorch and CUDA: "torch.cuda.Stream" -> "lab.stream".
-- From the pages of docs/api, which say them.
local function foreign_api()
    local map = {}
    for entry in api.each() do
        for _, name in ipairs(api.foreign_names(entry)) do
            local short = name:gsub("With%u%a+$", "")   -- cudaStreamCreateWithPriority
            map[short] = map[short] or entry.name
            if not map[name] or is_spelt_so(entry, name) then
                map[name] = entry.name
            end
        end
    end
    return map
end

-- What there is instead of a name that is not here; the list is docs/api/elsewhere.lua.
local function instead_of(name)
    local text = internals.elsewhere(name)
    return text and ("there is no %s here: %s"):format(name, text)
end

-- ---- paths in the line ---------------------------------------------------------------------

-- The names that the word at `i` is the last of: {"lab", "cuda", "stream"}; nil if the
-- expression does not begin with a name.
local function path_to(script, i)
    local path = {}
    while true do
        local token = script.tokens[i]
        if not token or token.kind ~= "name" then
            return nil
        end
        table.insert(path, 1, token.text)
        local before = script.tokens[i - 1]
        if not before or (before.text ~= "." and before.text ~= ":") then
            return path
        end
        i = i - 2
    end
end

-- The same, and what is behind it: torch.cuda.Stream for the word torch.
local function path_from(script, i)
    local path = {}
    while script.tokens[i] and script.tokens[i].kind == "name" do
        path[#path + 1] = script.tokens[i].text
        local behind = script.tokens[i + 1]
        if not behind or behind.text ~= "." then
            break
        end
        i = i + 2
    end
    return path
end

-- What spells most like the name among the keys of a table that are names.
local function nearest(name, t)
    local keys = {}
    for key in next, t do
        if type(key) == "string" and #key > 1 then
            keys[key] = true
        end
    end
    keys[name] = nil
    return internals.nearest(name, keys)
end

-- ---- globals -------------------------------------------------------------------------------

-- The line of the script that declares the name as a local or a loop's variable, or nil.
local function find_local(list, name)
    local in_declaration = false
    for i, token in ipairs(list) do
        if token.text == "local" or token.text == "for" then
            in_declaration = true
        elseif token.kind == "keyword" and token.text ~= "function" or token.text == "=" then
            in_declaration = false
        elseif in_declaration and token.text == name and list[i - 1].text ~= "<" then
            return token.line
        end
    end
end

-- Whether a function of the script has a parameter of that name.
local function is_parameter(list, name)
    local inside = false
    for i, token in ipairs(list) do
        if token.text == "function" then
            inside = true
        elseif token.text == ")" then
            inside = false
        elseif inside and token.text == name and list[i - 1].text ~= "function" then
            return true
        end
    end
    return false
end

-- Whether the name is that of a global that is nil, and of nothing else in the script.
local function lacks_value(list, name)
    return rawget(_G, name) == nil and not find_local(list, name) and not is_parameter(list, name)
end

-- A local of an entry at the prompt that came before the n-th.
local function local_before(n, name)
    for i = n - 1, 1, -1 do
        local text = program.entries()[("=lab[%d]"):format(i)]
        if type(text) == "string" and find_local(tokens.read(text), name) then
            return ("%s was local in lab[%d], and a local ends with its entry; leave local out "
                .. "at the prompt"):format(name, i)
        end
    end
end

local of_shells <const> = {}
for name in ("ls cd pwd cat less vim vi nano emacs clear git make cmake gcc g++ python python3 pip "
    .. "pip3 nvcc man echo top htop nvtop sh bash ssh sudo rm cp mv mkdir which env ps tail "
    .. "head grep find kill apt apt-get conda docker nvidia-smi nsys ncu nvprof cuda-gdb "
    .. "compute-sanitizer lscpu lspci uname whoami streamlab wget curl chmod df du "
    .. "free"):gmatch("%S+") do
    of_shells[name] = true
end

local no_folder <const> = "there is no folder to change here: start streamlab there; "
    .. "!cd changes nothing"

-- ls -la, cd ..: a command of the shell. At the prompt "!" gives it to the shell.
local function is_shells(name, source)
    return ("%s is for the shell: %s runs it there"):format(name, source:find("^=lab%[")
        and "!" .. name or ("os.execute(\"%s\")"):format(name))
end

-- A line that begins with a command of the shell, or with a path.
function names.shell_line(context)
    local line = context.script.lines[context.number] or ""
    local word, behind = line:match("^%s*([%w_./~+-]+)%s*(%S?)")
    if not context.source:find("^=lab%[") or not word or behind:find("[=(,]") then
        return nil
    elseif word == "cd" then
        return no_folder
    elseif of_shells[word] then
        return is_shells(word, context.source)
    elseif word:find("^[.~]*/[%w_.]") or word:find("/.*%.lua$") then
        return (word:find("%.lua$") and ".load %s runs the script" or "that is for the shell: "
            .. "!%s runs it there"):format(word)
    end
end

-- What may be meant by a global that has no value, at the prompt.
local function meant(n, name)
    local source <const> = ("=lab[%d]"):format(n)
    return local_before(n, name) or name == "cd" and no_folder
        or of_shells[name] and is_shells(name, source)
        or names.global({ number = 0, after = "", script = { tokens = {} }, source = source }, name)
end

-- The n-th entry, and what is said of a global in it that has no value.
local function entry_text(n)
    local text = program.entries()[("=lab[%d]"):format(n)]
    return type(text) == "string" and text:gsub("^return ", "") or ""
end

local function said(n, name)
    if not name or tokens.keywords[name] or rawget(_G, name) ~= nil then
        return nil
    end
    local hint = meant(n, name)
    if hint and hint:sub(1, #name + 1) == name .. " " then
        return hint
    end
    return ("%s has no value%s"):format(name, hint and ": " .. hint or "")
end

-- The n-th entry is just the name of a global that is nil, or of a field that `lab` has not.
function names.no_value(n)
    local command = entry_text(n):match("^%s*streamlab%s+%-")
        and "!" .. entry_text(n):match("^%s*(.-)%s*$")
    if command then
        return ("that is for the shell: %s runs it there"):format(command)
    end
    local field = entry_text(n):match("^%s*(lab%.[%w_.]+)%s*$")
    return field and instead_of(field) or said(n, entry_text(n):match("^%s*([%a_][%w_]*)%s*$"))
end

-- --help: an option of the program's, which is a comment here.
function names.option(n)
    return entry_text(n):find("^%s*%-%-help%s*$")
        and "-- begins a comment; help shows what there is, .help the console's commands" or nil
end

-- It gives such a value to another: a = True.
function names.assigned_nothing(n)
    return said(n, entry_text(n):match("^%s*[%a_][%w_.]*%s*=%s*([%a_][%w_]*)%s*$"))
end

-- A local of an earlier entry at the prompt, or of another part of the script.
local function local_elsewhere(context, name)
    local here = tonumber(context.source:match("^=lab%[(%d+)%]$"))
    local hint = here and local_before(here, name)
    if hint then
        return hint
    end
    local line = find_local(context.script.tokens, name)
    if line and line <= context.number then
        return ("the local %s of line %d ends with its block; declare it before the block")
            :format(name, line)
    end
end

local modules <const> = {
    torch = "torch", nn = "torch.nn", F = "torch.nn.functional", dist = "torch.distributed",
}

-- torch.cuda.Stream(...), nn.Linear(...): its name here.
local function of_module(context, name)
    local path = context.index and path_from(context.script, context.index) or { name }
    local known, map = table.concat(path, "."), foreign_api()
    local ours = map[modules[name] .. known:sub(#name + 1)] or map["torch." .. path[#path]]
    if not ours and #path > 1 then
        local instead = instead_of(known)
        if instead then
            return instead
        end
        local lower = path[#path]:lower()
        ours = rawget(lab_table, lower) ~= nil and "lab." .. lower or nil
    end
    if ours and #path > 1 then
        return ("%s is %s here"):format(known, ours)
    end
    return "PyTorch's functions are in lab: lab.zeros, lab.matmul, lab.stream"
end

-- A global that is nil.
function names.global(context, name)
    local declared = local_elsewhere(context, name)
    if declared then
        return declared
    elseif modules[name] then
        return of_module(context, name)
    elseif name == "f" and context.after:find("^[\"']") then
        return "values are put into texts by (\"%d bytes\"):format(n)"
    elseif rawget(lab_table, name) ~= nil and name ~= "version" then
        return ("%s is in lab: lab.%s"):format(name, name)
    elseif foreign[name] then
        return foreign[name]
    end
    local ours = name:find("^cu") and foreign_api()[name]
    local instead = (name:find("%u") or name:find("^__")) and instead_of(name)
    if ours or instead then
        return ours and ("%s is %s here"):format(name, ours) or instead
    end
    local near = nearest(name, _G) or nearest(name, { ["true"] = 1, ["false"] = 1, ["nil"] = 1 })
    return near and ("did you mean %s?"):format(near)
end

-- ---- fields and methods --------------------------------------------------------------------

-- The table that the path leads to without its last name, if all of it is plain tables.
local function table_at(path)
    local value = path[1] == "lab" and lab_table or rawget(_G, path[1])
    for i = 2, #path - 1 do
        value = type(value) == "table" and rawget(value, path[i]) or nil
    end
    return type(value) == "table" and getmetatable(value) == nil and value or nil
end

-- A field of a table that is nil. Other tables than the libraries have the user's own fields.
function names.field(context, name)
    local path = context.index and path_to(context.script, context.index)
    if not path or #path < 2 or path[#path] ~= name then
        return nil
    end
    if rawequal(rawget(_G, path[1]), package.loaded.streamlab) then     -- torch = lab
        path[1] = "lab"
    end
    local owner, whole = table_at(path), table.concat(path, ".")
    if path[1] == "lab" and owner then
        local map, lower = foreign_api(), name:lower()
        local ours = map["torch." .. table.concat(path, ".", 2)]
        local cuda = rawget(lab_table, "cuda")
        if ours and ours ~= whole then
            return ("it is %s"):format(ours)
        elseif rawget(lab_table, lower) ~= nil and whole ~= "lab." .. lower then
            return ("it is lab.%s"):format(lower)
        elseif type(cuda) == "table" and rawget(cuda, name) ~= nil then
            return ("it is lab.cuda.%s"):format(name)
        end
        ours = ours or map["torch.cuda." .. name] or map[name]
            or map["cuda" .. ("_" .. name):gsub("_(.)", string.upper)]
        local instead = instead_of(whole)
        if ours and ours ~= whole or instead then
            return ours and ("it is %s"):format(ours) or instead
        end
        local method = api.named(name)[1]
        if method and method.kind == "method" then
            return ("it is a method of %s: %s"):format(api.plural(method.class),
                api.called(method))
        end
    end
    local near = owner and nearest(name, owner)
    if near then
        return ("did you mean %s.%s?"):format(table.concat(path, ".", 1, #path - 1), near)
    end
    return context.line:find(name .. " %(") and foreign_methods[name]
end

-- A call got nil for an argument: a name in its parentheses that was local to an earlier entry.
function names.argument(context)
    local list, here = context.script.tokens, context.source:match("^=lab%[(%d+)%]$")
    local first = context.index and context.index + 1
    if not here or not first or not list[first] or list[first].text ~= "(" then
        return nil
    end
    local depth = 0
    for i = first, #list do
        local token, behind = list[i], list[i + 1]
        if token.text:find("^[({%[]$") then
            depth = depth + 1
        elseif token.text:find("^[)}%]]$") then
            depth = depth - 1
            if depth == 0 then
                return nil
            end
        elseif depth == 1 and token.kind == "name" and list[i - 1].text:find("^[(,]$")
            and behind and behind.text:find("^[,)]$") and lacks_value(list, token.text) then
            local hint = local_before(tonumber(here), token.text)
            if hint then
                return hint
            end
        end
    end
end

-- lab:graph() is a method to Lua.
function names.method(context, name)
    return foreign_methods[name] or names.field(context, name)
end

-- ---- others --------------------------------------------------------------------------------

function names.iterator(context)
    if context.line:find(" in pairs ") or context.line:find(" in ipairs ") then
        return nil
    end
    return "for i, value in ipairs(list) do goes through a list, pairs(t) through any table"
end

local comparing <const> = { ["<"] = true, [">"] = true, ["<="] = true, [">="] = true }

-- One of the two sides has no value: a global beside the operator that is nil.
function names.compared(context)
    local list = context.script.tokens
    for i, token in ipairs(list) do
        if token.line == context.number and comparing[token.text] then
            for _, k in ipairs { i - 1, i + 1 } do
                local side, before, behind = list[k], list[k - 1], list[k + 1]
                local alone = side and side.kind == "name"
                    and not (before and (before.text == "." or before.text == ":"))
                    and not (behind and behind.text:find("^[.:(%[{\"']"))
                if alone and lacks_value(list, side.text) then
                    return ("%s has no value"):format(side.text)
                end
            end
        end
    end
    return "one side is nil: a name without a value, a field that is not there, or a function "
        .. "that returns nothing"
end

-- lab.device "t4"
function names.device(context)
    local literal = context.script.tokens[(context.index or 0) + 1]
    if literal and literal.text == "(" then
        literal = context.script.tokens[context.index + 2]
    end
    local name = literal and literal.kind == "string" and literal.text:sub(2, -2) or "t4"
    if name == "cpu" then
        return "tensors are put on the host by the option { device = \"cpu\" }, or by t:cpu()"
    elseif name == "cuda" or name == "sim" then
        return ("lab.open{ backend = \"%s\" } opens a device"):format(name)
    elseif name:find("^cuda:%d+$") then
        return ("lab.open{ backend = \"cuda\", index = %s } opens a device"):format(name:sub(6))
    end
    return ("lab.open{ profile = \"%s\" } opens a device"):format(name)
end

-- x = """text"""
function names.triple_quotes(context)
    if context.script.lines[context.number]:find("\"\"\"", 1, true) then
        return "text over several lines is [[...]]"
    end
end

return names
