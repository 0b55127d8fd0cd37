-- classes.lua - classes that are written in Lua: a script sees the methods and fields of an object,
-- and its state is in a table that no script has.

local _, core = ...

local refuse, type_name = core.refuse, core.type_name

-- Gives the metatable of a class, whose __methods are filled before core.define_class takes it; the
-- states of its objects; and a function that gives the state of an object, or refuses what is none.
-- `of` has the class's name; `what` an object is called in sentences, and `self`, if it is called
-- otherwise as an argument; how a method is called ("r:%s()"); and where there are fields, their
-- names, and `field`, which gives one of a state.
return function(of)
    local states, methods, fields = setmetatable({}, { __mode = "k" }), {}, of.fields or {}
    local meta = { __name = of.name, __metatable = of.name, __methods = methods, __fields = fields }

    local function check_self(object, op)
        local state = states[object]
        if not state then
            refuse(op, "argument 1 (self) must be %s, got %s; call it as " .. of.call,
                   of.self or of.what, type_name(object), op)
        end
        return state
    end

    function meta.__index(object, key)
        if methods[key] then return methods[key] end
        if fields[key] then return of.field(check_self(object, "index"), key) end
        local known = {}
        for _, names in ipairs{ methods, fields } do
            for name in next, names do known[name] = true end
        end
        refuse("", "%s has no field or method '%s'%s", of.what,
               core.safe(string.sub(tostring(key), 1, 60)),
               core.arguments.did_you_mean(key, known, "'"))
    end

    function meta.__newindex() refuse("", "%s has no fields to set", of.what) end

    return meta, states, check_self
end
