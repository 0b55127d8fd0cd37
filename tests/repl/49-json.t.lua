-- 49-json.t.lua - repl/run/json.lua: what is written is read as the same value, and what others
-- wrote is read or refused as RFC 8259 says.
local tap = require "tap"
local environment = debug.getregistry()["streamlab.environment"]
local json = environment.import "repl/run/json.lua"

-- ---- there and back -----------------------------------------------------------------------------

local function same(a, b)
    if type(a) ~= "table" or type(b) ~= "table" then
        return math.type(a) == math.type(b) and (rawequal(a, b) or a ~= a and b ~= b)
    end
    for key, value in pairs(a) do
        if not same(value, b[key]) then
            return false
        end
    end
    for key in pairs(b) do
        if a[key] == nil then
            return false
        end
    end
    return true
end

for name, value in pairs {
    ["an integer"] = 3, ["the least one"] = math.mininteger, ["a float that is whole"] = 3.0,
    ["a large float"] = 1e300, ["the smallest one"] = 5e-324, ["a third"] = 1 / 3,
    ["not a number"] = 0 / 0, infinity = math.huge, ["its opposite"] = -math.huge,
    ["true"] = true, ["false"] = false, ["a text"] = "a\"b\\c\n\t\0\x7f\u{e9}\u{1f600}\u{202e}",
    ["bytes that are no UTF-8"] = "\xff\0\xc3", ["an empty table"] = {},
    ["a list"] = { 1, { 2 }, "x" },
    ["named values"] = { a = 1, ["b c"] = { d = false } }, ["a list with a gap"] = { 1, nil, 3 },
    ["keys of several types"] = { [0] = 1, [true] = 2, x = 3, [1.5] = 4 },
    ["names that begin with $"] = { ["$float"] = "nan" },
    ["names that are bytes"] = { ["\xff"] = 1 },
} do
    local text = json.write(value)
    local back = json.read(text)
    tap.ok(same(value, back), name .. " comes back: " .. text)
    tap.ok(utf8.len(text) and not text:find("\n"), "as one line of UTF-8")
end
tap.is(1 / json.read(json.write(-0.0)), -math.huge, "and a negative zero")
tap.is(json.write { b = 1, a = { 1, 2.5 } }, '{"a":[1,2.5],"b":1}', "names are sorted")
local back = json.read(json.write { f = print, t = setmetatable({}, {}), n = 1 })
tap.ok(back.f == json.other and back.t == json.other and back.n == 1,
       "what is no value is json.other")
local deep = {}
deep.own = deep
deep.other = { deep, { deep } }
tap.is(json.write(deep),
    '{"other":[{"$other":"table"},[{"$other":"table"}]],"own":{"$other":"table"}}',
    "a table that holds itself is written once")
deep = {}
deep[deep] = deep
tap.is(json.write(deep), '{"$table":[[{"$other":"table"},{"$other":"table"}]]}',
       "also where it is its own key")
local twice = { 1 }
tap.is(json.write { twice, twice }, "[[1],[1]]", "a table that is there twice is written twice")

-- ---- size ---------------------------------------------------------------------------------------

local shared_list, shared_record = { 1 }, { n = 1 }
for _ = 1, 60 do
    shared_list, shared_record = { shared_list, shared_list },
        { a = shared_record, b = shared_record }
end
local wide = {}
for i = 1, 10001 do wide[i] = true end
local usual = json.most
json.most = { bytes = 50000, values = 10001 }
for name, value in pairs {
    ["a list of which each part is there twice, 60 levels deep"] = shared_list,
    ["a record of that kind"] = shared_record,
    ["a list of many values"] = wide, ["a text"] = ("x"):rep(50001),
    ["bytes"] = ("\xff"):rep(30000),
    ["a name"] = { [("x"):rep(50001)] = 1 },
    ["several texts"] = { ("x"):rep(30000), ("y"):rep(30000) },
} do
    local fine, message = pcall(json.write, value)
    tap.ok(not fine and message == "the value is too large for JSON: more than 50000 bytes of "
        .. "text, or 10001 values (a table that is there several times counts each time)",
        "too large: " .. name)
end
wide[10001], wide[10000] = nil, nil
tap.is(#json.write(wide), 5 * 9999 + 1, "just less is written")
json.most = usual

-- ---- from others --------------------------------------------------------------------------------

tap.is_deeply(json.read ' { "a" : [ 1 , -2.5e3, true,false , "\\u00e9\\ud83d\\ude00\\/" \z
    ],\n"b":{},"c":null}\r\n',
    { a = { 1, -2500.0, true, false, "\u{e9}\u{1f600}/" }, b = {} }, "blanks, escapes and null")
for _, text in ipairs { "", "{", "[1,]", "[1 2]", '{"a"}', '{"a":1,}', '{a:1}', "01", "1.",
    '{"a":1,"a":1}', ".5",
    "+1", "1e", "nul", "True", '"\n"', '"\\x"', '"\\ud800"', '"\\ud800\\u0041"', '"\\udc00"',
    '"a', "[1]]", "1 2", "\xef\xbb\xbf1",
    '{"$float":"1"}', '{"$bytes":"f"}', '{"$table":[[null,1]]}', ("["):rep(100000),
    ('{"a":'):rep(100000) } do
    local value, reason = json.read(text)
    tap.ok(value == nil and (reason or ""):find("^it is no JSON at byte %d+$"),
        "refused: " .. text:sub(1, 20):gsub("%c", "."))
end
tap.done()
