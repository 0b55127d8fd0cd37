local x = 3                       -- a local variable; without `local` it is global
local name = "ab" .. "cd"         -- strings are joined with ..
if x ~= 4 and not done then x = x + 1 end  -- ~= is "not equal"; nil and false are false, 0 is not

for i = 1, 10 do print(i) end     -- 1 to 10, both included
local list = { 10, 20, 30 }       -- a table used as a list; list[1] is 10, #list is 3
for i, value in ipairs(list) do print(i, value) end

local options = { seed = 7 }      -- a table used as a dictionary; options.seed is 7
local t = lab.rand(4, 4, { seed = 7 })   -- Python's keyword arguments: a table at the end
local s = lab.stream{ name = "copies" }  -- f{...} is short for f({...})

local function twice(f)           -- functions are values
    f(); f()
end
twice(function() print("hello") end)

t:to("cpu")                       -- a method call: t.to(t, "cpu"); with a dot it would lack t
