-- 44-module.t.lua - streamlab.so under plain lua5.4, and other C modules in the program.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local lua, module = os.getenv("STREAMLAB_LUA"), os.getenv("STREAMLAB_SO")
local sanitized = os.getenv("STREAMLAB_SANITIZE")
local why = (lua or "") == "" and "no lua5.4" or (module or "") == "" and "no module"
    or (sanitized or "") ~= "" and "a sanitized module needs a sanitized lua5.4"

if why then
    tap.skip(why, 7)
else
    local function under_lua(text)
        return shell.sh(("LUA_CPATH=%s LUA_PATH= %s -e %s"):format(
            shell.quote(module:gsub("[^/]*$", "?.so")), shell.quote(lua), shell.quote(text)))
    end
    local out, err, code = under_lua [[
        local lab = require "streamlab"
        lab.open { backend = "sim", profile = "textbook" }
        print(lab, _G.lab == nil, lab.ones(3, 3):sum():item())]]
    tap.like(out, "^table: %S+\ttrue\t9.0\n$", "plain lua5.4 can require the module")
    tap.is(err .. code, "0", "and it ends well")
    _, err, code = under_lua "require('streamlab').matmul(1, 2)"
    tap.is(code, 1, "its errors are errors there")
    tap.like(err, "command line%):1: matmul: ", "with the script's position")
    _, err = under_lua [[require("streamlab").ones(1):backward()]]
    tap.like(err, "tensor has no field or method 'backward'; there are no gradients",
        "a method that is not here says what there is")
    out = under_lua "print(require('streamlab').vmap, require('streamlab').cuda.graph)"
    tap.is(out, "nil\tnil\n", "and a missing function reads as nil")
    out = shell.sh("nm -D --defined-only " .. shell.quote(module) .. " | grep -c ' T '")
    if out:match("%d") then
        tap.is(out, "1\n", "the module exports its entry and nothing else")
    else
        tap.skip("no nm")
    end
end

local out = shell.run { "-e", "print(lab == require 'streamlab', lab == package.loaded.streamlab)" }
tap.is(out, "true\ttrue\n", "in the program the global lab is the module")

tap.done()
