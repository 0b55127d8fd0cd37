-- kernels.lua - lab.kernel: kernels of the user's own. l_kernel.c launches them.

local lab, core = ...

local as, raise, refuse, type_name = core.as, core.raise, core.refuse, core.type_name
local check_options, no_more = core.arguments.check_options, core.arguments.no_more
local is_text, is_table = core.arguments.is_text, core.arguments.is_table
local new_kernel = core.new_kernel

local op <const> = "kernel"
local most_bytes <const> = 1024 * 1024

local function is_function(value) return type(value) == "function" end

local function is_texts(value) return core.arguments.is_list(value, is_text) end

local options = {
    { "source", "a text: CUDA C++", is_text },
    { "file", "a file's name", is_text },
    { "name", "the name of a __global__ function", is_text },
    { "args", "a list of texts, one for each parameter, such as { \"f32\", \"in f32*\" }",
      is_texts },
    { "options", "a list of texts", is_texts },
    { "cost", "a table { us = } or { bytes =, flops = }, or a function that gives one",
      function(value) return is_table(value) or is_function(value) end },
    { "cpu", "a function", is_function },
}

-- ---- the source ------------------------------------------------------------------------

local function read_file(path)
    if not io then refuse(op, "file %s: there is no io library", core.safe(path)) end
    local file, why = io.open(path, "rb")
    if not file then refuse(op, "file %s", core.safe(tostring(why))) end
    local text = file:read(most_bytes + 1) or ""
    file:close()
    if #text > most_bytes then refuse(op, "file %s has more than 1 MiB", core.safe(path)) end
    return text
end

local function count_lines(text)
    local _, n = string.gsub(text, "\n", "")
    return n
end

-- Where the source stands in the script: its file's name and line; else a name and line 1.
local function find_source(source, name)
    local script, text = core.calling_chunk()
    local at = text and source ~= "" and string.find(text, source, 1, true)
    if not at then return "kernel " .. name, 1 end
    return script, count_lines(string.sub(text, 1, at - 1)) + 1
end

-- Without comments, and without attributes such as __launch_bounds__(128).
local function code_of(source)
    local code = string.gsub(string.gsub(source, "/%*.-%*/", " "), "//[^\n]*", " ")
    return (string.gsub(code, "__[%w_]+__%s*%b()", " "))
end

-- The names of the functions that a source has with __global__.
local function global_names(source)
    local names = {}
    for tail in string.gmatch(code_of(source), "__global__([^;{]-)%f[(]%(") do
        names[#names + 1] = string.match(tail, "([%a_][%w_]*)%s*$")
    end
    return names
end

-- A header of the user's may have the function, or be what declares it.
local function check_global(opts, source)
    local code = code_of(source)
    if string.find(code, "__global__", 1, true) or string.find(code, '#%s*include%s*"')
        or opts.options and #opts.options > 0 then return end
    refuse(op, "the source has no __global__ function")
end

local function choose_name(opts, source)
    if opts.name then return opts.name end
    local names = source and global_names(source) or {}
    if #names == 1 then return names[1] end
    if #names == 0 then refuse(op, "name = is missing: the kernel's") end
    refuse(op, "name = is missing: the source has %s", table.concat(names, ", "))
end

-- ---- args beside the parameters --------------------------------------------------------

local types <const> = { float = "f32", double = "f64", int = "i32", int32_t = "i32",
    unsigned = "u32",
    ["unsigned int"] = "u32", uint32_t = "u32", ["long long"] = "i64", int64_t = "i64",
    uint64_t = "u64",
    ["unsigned long long"] = "u64", __half = "f16", half = "f16", __nv_bfloat16 = "bf16",
    ["unsigned char"] = "u8", uint8_t = "u8" }

-- "f32*" of "const float *__restrict__ x", or nil: of a type that is not in the list above.
local function declared_type(parameter)
    local text = string.gsub(string.gsub(parameter, "__restrict__", " "),
                             "%f[%w_]const%f[^%w_]", " ")
    local words, stars, name = string.match(text, "^%s*([%w_ \t\n]-)%s*(%*?)%s*([%a_][%w_]*)%s*$")
    local known = name and types[(string.gsub(words, "%s+", " "))]
    return known and known .. stars
end

-- The parameters of the function as texts, or nil where only a compiler can tell: templates,
-- macros.
local function parameters_of(source, name)
    local plain = string.match(name, "^[%a_][%w_]*$")
    local inside = plain and string.match(code_of(source),
                                          "%f[%w_]" .. plain .. "%s*%(([^()]*)%)%s*{")
    if not inside or string.find(inside, "[<>#]") then return nil end
    local list = {}
    for text in string.gmatch(inside, "[^,]+") do
        list[#list + 1] = string.match(text, "^%s*(.-)%s*$")
        -- a macro, or void
        if not string.find(list[#list], "[%w_][ *]+[%a_]") then return nil end
    end
    return list
end

-- Of a kernel that does not compile: what in args does not fit its parameters, as the compiler's
-- own messages about it are about code that is not the user's.
local function compare_args(source, name, args)
    local list = parameters_of(source, name)
    if not list then return end
    if #list ~= #args then
        raise("SL_ECOMPILE", op, ("args has %d entr%s, %s takes %d")
            :format(#args, #args == 1 and "y" or "ies", name, #list))
    end
    for i = 1, #args do
        local needed, given = declared_type(list[i]), string.match(args[i], "(%w+%s*%*?)%s*$")
        given = given and string.gsub(given, "%s", "")
        local is_tensor = needed and string.sub(needed, -1) == "*"
        if needed and (is_tensor and needed ~= given
                or not is_tensor and string.find(given, "*", 1, true)) then
            local access = not is_tensor and "" or string.find(list[i], "const") and "in "
                or "inout "
            raise("SL_ECOMPILE", op, ("args[%d] is \"%s\", and parameter %d of %s is %s: \"%s%s\"")
                :format(i, args[i], i, name, list[i], access, needed))
        end
    end
end

-- ---- how long it takes -----------------------------------------------------------------

local kinds <const> = { "us", "bytes", "flops" }

local function check_cost(cost)
    for key in next, cost do
        if key ~= "us" and key ~= "bytes" and key ~= "flops" then
            refuse(op, "cost has '%s'; known: us, or bytes and flops", tostring(key))
        end
    end
    if cost.us and (cost.bytes or cost.flops) then
        refuse(op, "cost has us beside bytes or flops: us alone is how long it takes")
    end
    for _, key in ipairs(kinds) do
        local value = cost[key]
        local fits = value == nil or type(value) == "function"
            or type(value) == "number" and value >= 0 and value < math.huge
        if not fits then
            refuse(op, "cost.%s must be a number from 0 or a function, got %s", key,
                   type_name(value))
        end
    end
    return cost
end

local function evaluate(key, value, ...)
    if type(value) == "function" then value = value(...) end
    if value == nil then return -1 end
    if type(value) ~= "number" or not (value >= 0 and value < math.huge) then
        refuse(op, "the function cost.%s must give a number from 0, got %s", key, type_name(value))
    end
    return value
end

-- f(grid, block, shared, ...) for l_kernel.c, which gives us, bytes and flops, -1 for what is not
-- known.
local function cost_function(cost)
    if cost == nil then return nil end
    if type(cost) == "table" then check_cost(cost) end
    return function(grid, block, _, ...)
        local known = cost
        if type(cost) == "function" then
            known = cost(grid, block, ...)
            if type(known) ~= "table" then
                refuse(op, "the function cost must give a table, got %s", type_name(known))
            end
            check_cost(known)
        end
        return evaluate("us", known.us, grid, block, ...),
            evaluate("bytes", known.bytes, grid, block, ...),
            evaluate("flops", known.flops, grid, block, ...)
    end
end

-- What its device's profile has measured of the kernel, or nil; and the profile's other figures.
local function measured_of(k)
    local known = core.figures_of(k.device)
    local figures = known and known.figures
    if not figures or not figures.kernels then return nil end
    return figures.kernels[k.hash], figures.flat
end

local function volume(size)
    if type(size) == "number" then return size end
    local product = 1
    for i = 1, #size do product = product * size[i] end
    return product
end

-- The bytes of the tensors, and the list of the numbers.
local function sort_arguments(...)
    local bytes, numbers = 0, {}
    for i = 1, select("#", ...) do
        local value = select(i, ...)
        if type(value) == "number" then numbers[#numbers + 1] = value
        else bytes = bytes + value:nbytes() end
    end
    return bytes, numbers
end

-- The same as cost_function, of a kernel that was measured.
local function measured_function(measured, figures)
    local costs = core.need("kernel_costs")
    return function(grid, block, shared, ...)
        local bytes, numbers = sort_arguments(...)
        local asked = { grid = volume(grid), block = volume(block), shared = shared, bytes = bytes,
                        numbers = numbers }
        local us, launch = costs.us(measured, asked)
        if not us then return -1 end
        local moved, computed = costs.shares(measured, launch, asked, us, figures)
        return us, moved, computed, costs.cold_us(launch, us)
    end
end

-- A time that the script says comes first, then one that was measured, then what the script says of
-- bytes and flops.
local function first_of(said, measured)
    if not said then return measured end
    return function(grid, block, shared, ...)
        local us, bytes, flops = said(grid, block, shared, ...)
        if us >= 0 then return us, bytes, flops end
        local measured_us, moved, computed, cold_us = measured(grid, block, shared, ...)
        if measured_us >= 0 then return measured_us, moved, computed, cold_us end
        return us, bytes, flops
    end
end

-- Gives the kernel what its profile knows of it.
local function use_measured(k, said)
    local measured, figures = measured_of(k)
    if not measured then return end
    core.set_footprint(k, math.tointeger(measured.registers) or 0,
                       math.tointeger(measured.shared_bytes) or -1)
    core.set_cost(k, first_of(said, measured_function(measured, figures)))
end

-- ---- in all ----------------------------------------------------------------------------

local function choose_source(opts)
    if opts.source and opts.file then refuse(op, "source = and file =: one of them") end
    if opts.file then return read_file(opts.file) end
    if not opts.source and not opts.cpu then
        refuse(op, "source = is missing: CUDA C++; or file =, or for a simulated GPU cpu =")
    end
    return opts.source
end

function lab.kernel(opts, ...)
    no_more(1, op, ...)
    if opts == nil then refuse(op, "it needs a table: lab.kernel{ source =, name =, args = }") end
    check_options(opts, options, op)
    local source = choose_source(opts)
    if source and not opts.cpu then check_global(opts, source) end
    local name = choose_name(opts, source)
    if not opts.args then
        refuse(op, "args = is missing: a list, such as { \"f32\", \"in f32*\" }")
    end
    local file, line = opts.file and string.match(opts.file, "[^/]*$"), 1
    if not file and source then file, line = find_source(source, name) end
    local said = cost_function(opts.cost)
    local fine, k = pcall(as, op, new_kernel, source, name, file or "", line, opts.args,
                          opts.options or {}, opts.cpu, said)
    if not fine then
        if source and type(k) == "table" and k.code == "SL_ECOMPILE" then
            compare_args(source, name, opts.args)
        end
        error(k, 0)
    end
    use_measured(k, said)
    return k
end
