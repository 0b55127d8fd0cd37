-- operand.lua - the variable that a copy in a line of a Lua script is about.
--
-- No parser: a line is read as far as it is plain, and where it is not, nothing is said.
-- Plain is one call of to, cuda, cpu or copy_ on a line without long brackets, on (or, for
-- what copy_ reads, with) a variable, its fields and its elements.

local longest_line <const>, longest_name <const> = 511, 48
local copies <const> = { to = "receiver", cuda = "receiver", cpu = "receiver", copy_ = "argument" }
local keywords = {}
for word in ("and do else end false function in local nil not or return then true"):gmatch("%a+") do
    keywords[word] = true
end

-- The line with blanks for what is in strings, up to a comment; nil if it is too long, or a
-- string or a bracket of more than a line may begin or end in it.
local function code_of(line)
    if #line > longest_line or line:find("%[[%[=]") then return nil end
    local code, at = line:gsub("\\.", "  "), 1
    while true do
        local quote = code:find("[\"']", at) or #code + 1
        local comment = code:find("--", at, true)
        if comment and comment < quote then return code:sub(1, comment - 1) end
        if quote > #code then return code end
        local last = code:find(code:sub(quote, quote), quote + 1, true)
        if not last then return nil end
        code = code:sub(1, quote - 1) .. (" "):rep(last - quote + 1) .. code:sub(last + 1)
        at = last + 1
    end
end

-- The only call of a copying method: where its colon and its arguments are, and what it copies.
-- nil if there is none, or more than one.
local function find_call(code)
    local found
    for colon, method, arguments in code:gmatch("()%f[:]:([%a_][%w_]*)[ \t]*()") do
        local is_call = colon > 1 and (arguments > #code or code:find("^[({]", arguments))
        if copies[method] and is_call then
            if found then return nil end
            found = { colon = colon, arguments = arguments, copies = copies[method] }
        end
    end
    return found
end

-- The names that a variable begins with, "self.data" of "self.data[i]", and where it ends; nil if
-- it is something else.
local function read_variable(code, at)
    local names, stop = code:match("^([%a_][%w_.]*)()", at)
    if not names or #names > longest_name then return nil end
    for name in (names .. "."):gmatch("([^.]*)%.") do
        if keywords[name] or not name:find("^[%a_]") then return nil end
    end
    while code:find("^%[", stop) do
        stop = code:match("^%b[]()", stop)
        if not stop then return nil end
    end
    return names, stop
end

-- Where what the method is called on begins: names and elements of it.
local function receiver_start(code, colon)
    local before = code:sub(1, colon - 1):reverse()
    local at = 1
    while before:find("^%]", at) do
        at = before:match("^%b][()", at)
        if not at then return colon end
    end
    at = before:match("^[%w_.]*()", at)
    return before:find("^[%])}]", at) and colon or colon - at + 1
end

-- operand(line, written): the variable that a copy on this line reads (`written`: writes), as
-- it is written there; nil if that is not certain.
return function(line, written)
    local code = code_of(line)
    local call = code and find_call(code)
    if not call or written and call.copies ~= "argument" then return nil end
    if written or call.copies == "receiver" then
        local name, stop = read_variable(code, receiver_start(code, call.colon))
        return stop == call.colon and name or nil
    end
    local start = code:match("^%([ \t]*()", call.arguments)
    local name, stop = read_variable(code, start or #code + 1)
    return name and code:find("^[ \t]*[,)]", stop) and name or nil
end
