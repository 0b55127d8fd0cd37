-- 20-api-fields.t.lua - what an object does not have: fields, indices, operators, and
-- calls with a dot for a colon. None of these may pass as nil.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- The sentence of f's error, "" without one.
local function sentence(f, ...)
    local err = ideal.error_of(f, ...)
    return type(err) == "table" and err.message or ""
end

local function read(object, key) return sentence(function() return object[key] end) end
local function write(object, key) return sentence(function() object[key] = 1 end) end

local function unknown_fields()
    local t, s, e = lab.ones(2, 2), lab.stream{}, lab.event{}
    local d, tl = lab.device(), lab.profile(function() end)
    local cases = {
        { t, "shape", "tensor has no field or method 'shape'; its sizes are t:size()" },
        { t, "T", "tensor has no field or method 'T'; t:t() transposes a matrix, in a copy" },
        { t, "numpy", "tensor has no field or method 'numpy'; its values are t:totable()" },
        { t, "data", "tensor has no field or method 'data'; its values are t:totable()" },
        { t, "nbtes", "tensor has no field or method 'nbtes'; did you mean 'nbytes'?" },
        { t, "dtpye", "tensor has no field or method 'dtpye'; did you mean 'dtype'?" },
        { t, "colour", "tensor has no field or method 'colour'" },
        { t, "x", "tensor has no field or method 'x'" },
        { s, "sync", "stream has no field or method 'sync'; use s:synchronize()" },
        { s, "querry", "stream has no field or method 'querry'; did you mean 'query'?" },
        { e, "elapsed",
          "event has no field or method 'elapsed'; use e:elapsed_time(e2), in milliseconds" },
        { e, "recordd", "event has no field or method 'recordd'; did you mean 'record'?" },
        { d, "synchronize", "device has no field or method 'synchronize'; use lab.synchronize()" },
        { d, "sm_cont", "device has no field or method 'sm_cont'; did you mean 'sm_count'?" },
        { tl, "makespan", "timeline has no field or method 'makespan'; use tl.makespan_us" },
        { tl, "bussy_us", "timeline has no field or method 'bussy_us'; did you mean 'busy_us'?" },
    }
    for _, case in ipairs(cases) do
        T.is(read(case[1], case[2]), case[3], "." .. case[2] .. " is refused with a way out")
    end
    T.ok(#read(t, ("n"):rep(5000)) < 200, "a very long name is cut")
    local err = ideal.error_of(function() t:sahpe() end)
    T.is(err.op, "", "no function was called: op is empty")
    T.like(tostring(err), "^20%-api%-fields%.t%.lua:%d+: tensor has no", "the line begins so")
    T.is(t.ndim, 2, "fields that exist are read")
    T.is(t:numel(), 4, "methods that exist are found")
    t:free()
    T.like(read(t, "shape"), "t:size", "a freed tensor has no other fields")
    refuses(function() return t.ndim end, "SL_ECLOSED", "freed", "and says so for those it had")
end

local function indices()
    local t, s = lab.ones(2, 2), lab.stream{}
    T.is(read(t, 1), "a tensor is not indexed with []; use t:get(1, 1)", "t[1] is refused")
    T.is(write(t, 1), "a tensor is not indexed with []; use t:set(1, 1, value)", "and t[1] = 1")
    T.is(read(lab.ones(3), 1), "a tensor is not indexed with []; use t:get(1)",
         "with as many indices as the tensor has")
    T.like(sentence(function() for _ in ipairs(t) do end end), "not indexed", "ipairs as well")
    T.is(read(s, 1), "a stream is not indexed with []", "a stream has no items")
    T.is(read(t, true), "tensor has no field [boolean]", "nor has a tensor fields that are no text")
    T.is(read(t, s), "tensor has no field [stream]", "whatever they are")
end

local function writing()
    local objects = { lab.ones(1), lab.stream{}, lab.event{}, lab.device(),
                      lab.profile(function() end) }
    for _, object in ipairs(objects) do
        T.is(write(object, "name"), "field 'name' cannot be set", "no field can be set")
    end
    refuses(function() objects[1].dtype = "uint8" end, "SL_EINVAL", "'dtype' cannot be set",
            "those that exist neither")
    local err = ideal.error_of(lab.matmul, 1)
    err.note = "mine"
    T.is(err.note, "mine", "an error object is a plain table")
    T.is(err.nothing, nil, "in which a field that is not there is nil")
end

local function dots_and_colons()
    local t, u, s = lab.ones(2, 2), lab.ones(2, 2), lab.stream{}
    T.is(sentence(function() lab:matmul(t, u) end),
         "called as lab:matmul(...); functions of lab take a dot: lab.matmul(...)",
         "lab:matmul is distinguished from lab.matmul")
    T.is(sentence(function() lab.cuda:malloc(16) end),
         "called as lab.cuda:malloc(...); functions of lab.cuda take a dot: lab.cuda.malloc(...)",
         "also in lab.cuda")
    collectgarbage()
    lab.synchronize()
    local before = lab.live()
    for _, space in ipairs{ lab, lab.cuda } do
        local names = {}
        for name, f in pairs(space) do
            if type(f) == "function" then names[#names + 1] = name end
        end
        table.sort(names)
        for _, name in ipairs(names) do
            local told = true
            for _, args in ipairs{ {}, { {} }, { t, u }, { 4, 4 }, { s, print },
                                   { print }, { "h200" } } do
                local err = ideal.error_of(space[name], space, table.unpack(args))
                told = told and type(err) == "table" and err.code == "SL_EINVAL"
                    and err.message:find("take a dot: ", 1, true) ~= nil
            end
            T.ok(told, name .. " with a colon is refused, whatever follows")
        end
    end
    collectgarbage()
    T.is_deeply(lab.live(), before, "and nothing has been done")
    T.is(sentence(t.size), "argument 1 (self) must be a tensor, got nothing; call it as t:size()",
         "t.size() is distinguished from t:size()")
    T.like(sentence(t.get, 1, 1), "got number; call it as t:get%(%.%.%.%)$", "with arguments too")
    T.like(sentence(s.query), "call it as s:query%(%)$", "for streams")
    T.like(sentence(s.close), "call it as s:close%(%)$", "also their end")
    T.like(sentence(lab.event{}.close), "call it as e:close%(%)$", "and for events")
    T.like(sentence(lab.profile(function() end).show), "call it as tl:show%(%)$", "and timelines")
end

T.open()
for _, test in ipairs{ unknown_fields, indices, writing, dots_and_colons } do test() end
T.done()
