-- arrays.lua - values and arrays from the client and for it, by the names of global variables.
--
-- A value is in the line, as JSON. An array's numbers follow the line as doubles, in the byte order
-- of this machine, so that no table of numbers is in between; `dtype` is what they are on both
-- sides.

local api = import "repl/run/api.lua"

local arrays = {}

local double_bytes <const> = 8
local most_bytes <const> = 4 << 30      -- of an array
local most_dimensions <const> = 8

local function is_name(name)
    return name:find("^[%a_][%w_]*$") ~= nil
end

-- ---- for the client ------------------------------------------------------------------------

-- The fields that describe a value, and the bytes behind them.
local function describe(value)
    local kind = internals.type_name(value)
    if kind == "tensor" then
        local bytes = internals.doubles(value)
        return { kind = "array", dtype = value.dtype, shape = { value:size() }, bytes = #bytes },
            bytes
    elseif kind == "timeline" then
        return { kind = "table", rows = value:spans() }
    elseif api.class_of(value) == "results" then
        return { kind = "table", rows = value.rows, columns = value.columns }
    end
    return { kind = "value", value = value }
end

function arrays.get(name)
    local value
    if is_name(name) then value = rawget(_G, name) end
    if value == nil then
        return nil, ("there is no global variable '%s'"):format(internals.safe(name))
    end
    return describe(value)
end

-- ---- from the client -----------------------------------------------------------------------

-- The number of elements; nil: this is no shape.
local function count_of(shape)
    if type(shape) ~= "table" or #shape > most_dimensions then return nil end
    local n = 1
    for _, size in ipairs(shape) do
        if math.type(size) ~= "integer" or size < 0 or size > most_bytes then return nil end
        n = n * size
        if n > most_bytes // double_bytes then return nil end
    end
    return n
end

local dtypes <const> = {}
for _, name in ipairs { "float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8" } do
    dtypes[name] = lab[name] ~= nil
end

local function array_fault(request)
    local n = count_of(request.shape)
    if not n then
        return ("'shape' must be a list of at most %d sizes, of at most %d elements in all"):format(
            most_dimensions, most_bytes // double_bytes)
    elseif request.bytes ~= n * double_bytes then
        return ("'bytes' must be %d, 8 for each element of the shape"):format(n * double_bytes)
    elseif not dtypes[request.dtype] then
        return "'dtype' must be a dtype of the laboratory"
    end
end

-- Drops the bytes that follow a request.
function arrays.drop(request)
    if math.type(request.bytes) == "integer" and request.bytes > 0 then
        program.receive(request.bytes)
    end
end

-- Reads the array that follows a request into request.data; or gives what is wrong.
function arrays.receive(request)
    local problem
    if not is_name(request.name) then
        problem = "'name' must be the name of a variable"
    elseif request.bytes ~= nil then
        problem = array_fault(request)
    end
    if problem then
        arrays.drop(request)
    elseif request.bytes then
        request.data = program.receive(request.bytes, true)
    end
    return problem
end

-- The array as a tensor in pageable memory of the host, as torch.from_numpy gives one.
local function tensor_of(request)
    local sizes = table.move(request.shape, 1, #request.shape, 1, {})
    sizes[#sizes + 1] = { device = "cpu", dtype = request.dtype }
    local t = lab.empty(table.unpack(sizes))
    internals.set_doubles(t, request.data)
    return t
end

function arrays.put(request)
    local value = request.value
    if request.data then value = tensor_of(request) end
    rawset(_G, request.name, value)
    return {}
end

return arrays
