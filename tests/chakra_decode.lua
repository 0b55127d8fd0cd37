-- chakra_decode.lua - reads Chakra execution traces: the wire format of Protocol Buffers, and the
-- fields of et_def.proto that streamlab writes. Anything else is an error.

local decode = {}

local function number(bytes, at)
    local value, shift = 0, 0
    while true do
        local byte = bytes:byte(at) or error("the file ends within a number")
        value, shift, at = value | (byte & 0x7f) << shift, shift + 7, at + 1
        if byte < 0x80 then return value, at end
    end
end

local function chunk(bytes, at)
    local n
    n, at = number(bytes, at)
    assert(at + n - 1 <= #bytes, "the file ends within a message")
    return bytes:sub(at, at + n - 1), at + n
end

-- Calls take(field, value) for each field: value is a number, or a text of bytes.
local function each(bytes, take)
    local at = 1
    while at <= #bytes do
        local key, value
        key, at = number(bytes, at)
        if key & 7 == 0 then
            value, at = number(bytes, at)
        elseif key & 7 == 2 then
            value, at = chunk(bytes, at)
        else
            error("wire type " .. (key & 7))
        end
        take(key >> 3, value)
    end
end

local function list(bytes)
    local found, at = {}, 1
    while at <= #bytes do
        found[#found + 1], at = number(bytes, at)
    end
    return found
end

local kinds <const> = { [7] = "int32", [9] = "int64", [13] = "uint64", [27] = "bool",
                        [29] = "string" }

local function attribute(bytes, node)
    local name, kind, value
    each(bytes, function(field, what)
        if field == 1 then name = what
        else kind, value = kinds[field] or error("attribute field " .. field), what end
    end)
    if kind == "bool" then value = value ~= 0 end
    assert(node.attr[name] == nil, "attribute " .. name .. " comes twice")
    node.attr[name], node.types[name] = value, kind
end

local names <const> = { "id", "name", "type", nil, "data_deps", "start", "duration" }
local types <const> = { "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
                        "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE" }

local function read_node(bytes)
    local node = { data_deps = {}, attr = {}, types = {} }
    each(bytes, function(field, value)
        if field == 10 then
            attribute(value, node)
        elseif field == 8 then
            each(value, function(_, text) node.values = text end)
        elseif field == 5 then
            node.data_deps = list(value)
        else
            node[names[field] or error("node field " .. field)] = value
        end
    end)
    node.type = types[node.type] or error("no node type " .. tostring(node.type))
    return node
end

-- The nodes of a file, and its version.
function decode.file(path)
    local file <close> = assert(io.open(path, "rb"))
    local bytes = file:read("a")
    local nodes, version, message, at = {}, nil, nil, 1
    message, at = chunk(bytes, at)
    each(message, function(field, value)
        assert(field == 1, "metadata field")
        version = value
    end)
    while at <= #bytes do
        message, at = chunk(bytes, at)
        nodes[#nodes + 1] = read_node(message)
    end
    return nodes, version
end

return decode
