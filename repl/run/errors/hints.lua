-- hints.lua - the most likely cause of an error, for people who know Python, C and PyTorch. A
-- hint is given only if the cause is almost certain.
--
-- The list is looked through in order. An entry has
--   message  a pattern that the message, without its position, must match
--   line     a pattern for the line's code: its words with single blanks between them,
--            comments left out, each string as ""; or nil
--   before   a pattern for the whole word before the one that is marked, "" if there is none
--   after    the same for the word behind it
--   op       that of an error of the laboratory
--   hint     the text, in which %1 is the message's first capture; or a function of the
--            context and the captures that gives it, or nil
-- The context is {script =, number =, line =, before =, after =, index = of the marked word}.

local names = import "repl/run/errors/hint_names.lua"

local hints = {}

local named_arguments <const> = "named arguments go into a table: lab.stream{ priority = -1 }"
local conditional <const> = "a conditional value is written: cond and a or b"
local blocks <const> = "blocks have words: if ... then ... end, for ... do ... end, "
    .. "while ... do ... end"
local prompts <const> = "a prompt is no part of the entry: paste what stands behind it"
local loops <const> = "a loop over numbers is written for i = 1, 10 do ... end"
local shell <const> = "that is for the shell; here .load FILE runs a script, and .quit leaves"
local in_lab <const> = "lab has what it needs under PyTorch's names: lab.zeros, lab.matmul, "
    .. "lab.stream"
local commands <const> = "commands of the shell are run by os.execute(\"ls\")"
local a_function <const> = "a function is written function f(x) ... end"
local no_types <const> =
    "there are no types: a table holds what belongs together, p = { x = 1, y = 2 }"
local arrow <const> = "-> is written . for a field and : for a method: x:size()"
local colons <const> = "there is no ::; fields and functions are reached by a dot: lab.stream"
local assignment <const> = "values are assigned by =: x = 3"
local choice <const> = "there is no switch; if ... then ... elseif ... then ... end chooses"
local printing <const> = "print(x, y) prints"
local equality <const> = "equality is ==, and None is nil: x == nil"
local listed <const> = "t:totable() gives the values to Lua: for i, x in ipairs(t:totable()) do"
local with_stream <const> = "a block with a stream current is written lab.with(s, function() ... "
    .. "end)"
local parts <const> = "a part of a tensor is t:narrow(dim, start, length), an element t:get(1, 2)"

local memory <const> = "there are no addresses: lab.empty(n) makes a tensor, "
    .. "lab.cuda.malloc(bytes) gives plain memory"
local catching <const> = "errors are caught by local fine, err = pcall(f)"

-- lab.randn(3, 3, device="cuda"): the call's own name and option, where both are plain.
local function parameters_or_arguments(context)
    if context.line:find("function[%w_ .:]*%([^()]*=") then
        return "parameters have no defaults; begin with: x = x or 1"
    end
    local name, before, option, value = context.line:match(
        "^([%a_][%w_ .:]-) ?%( ([%w_ ,.]-)([%a_][%w_]*) = (-? ?[%w_.\"]+) %)$")
    name = name and name:gsub(" ([.:]) ", "%1"):match("^lab%..*")
    if not name or before ~= "" and not before:find(", $") then
        return named_arguments
    end
    if value == "\"\"" then
        value = context.script.lines[context.number]:match(option .. "%s*=%s*(%b\"\")") or "..."
    end
    return ("named arguments go into a table: %s"):format(before == ""
        and ("%s{ %s = %s }"):format(name, option, (value:gsub(" ", "")))
        or ("%s(%s{ %s = %s })"):format(name, (before:gsub(" ,", ",")), option,
                                        (value:gsub(" ", ""))))
end

-- lab.rand([3, 3])
local function sizes_in_brackets(context)
    local name, sizes = context.line:match("(lab %. %l+) %( %[ ([%w_ ,]+) %]")
    return name and ("sizes are arguments of their own: %s(%s)"):format((name:gsub(" ", "")),
        (sizes:gsub(" *, *", ", "):gsub(" $", "")))
end

-- lab.matmul?
local function trailing_question(context)
    return "help is written ?" .. context.line:gsub("[ ?]", "")
end

-- help pinned
local function help_word(context)
    local word = context.line:match("^help ([%w_ .:]+)$")
    word = word and word:gsub(" ([.:]) ", "%1") or context.script.tokens[context.index].text
    return ("help takes a text or a value: help \"%s\"; or write ?%s"):format(word, word)
end

-- lab.with(s, work())
local function called_already(context)
    local called = context.line:match("with %(.-, ([%a_][%w_ .:]*) %(")
    called = called and called ~= "function" and called:gsub(" ([.:]) ", "%1"):gsub(" $", "")
    return called and ("`%s` without parentheses is the function itself; with them it is called "
        .. "before, and not in the stream"):format(called)
end

-- lab.ones{3, 4}
local function listed_options(context)
    local makers = { empty = 1, zeros = 1, ones = 1, rand = 1, randn = 1 }
    return makers[context.op] and ("sizes stand before the options: lab.%s(3, 4, {dtype = "
        .. "\"float16\"})"):format(context.op)
end

local declaring <const> = {
    var = "local x = 1", let = "local x = 1", auto = "local x = 1", int = "local x = 1",
    float = "local x = 1", double = "local x = 1", const = "local x <const> = 1",
}

-- int x = 1
local function declaration(context)
    local form = declaring[context.before] or context.before:find("_t$") and declaring.auto
    if form and context.line:find("^" .. context.before .. " ") then
        return "variables are declared by " .. form
    elseif context.before == "global" then
        return "what is not declared local is global: x = 1"
    end
end

-- 'end' expected: somewhere from the open `if` on there is "else if".
local function else_if(context, from)
    local previous
    for _, token in ipairs(context.script.tokens) do
        if token.text == "if" and previous and previous.text == "else"
            and previous.line == token.line and token.line >= tonumber(from) then
            return ("\"else if\" in line %d opens another if, which needs an end of its own; "
                .. "elseif does not"):format(token.line)
        end
        previous = token
    end
end

-- Of a line: patterns with several .* take the square of it, or more.
local most_words <const>, most_bytes <const> = 300, 4096

-- The line's code in single blanks; "" of a line that no person wrote.
local function code_of(script, number)
    local words = {}
    for _, token in ipairs(script.tokens) do
        if token.line == number and token.kind ~= "comment" then
            words[#words + 1] = token.kind == "string" and "\"\"" or token.text
        end
    end
    local code = #words <= most_words and table.concat(words, " ") or ""
    return #code <= most_bytes and code or ""
end

-- No then or do: the line that needs it ends in a colon or a brace. The compiler may have read
-- on in the next one.
local function other_blocks(context)
    for number = context.number, math.max(1, context.number - 3), -1 do
        local code = code_of(context.script, number)
        local first = code:match("^%a+")
        if first == "if" or first == "elseif" or first == "while" or first == "for" then
            return code:find("[:{]$") and blocks or code:find("[%w_)] :") and blocks or nil
        end
    end
end

-- k<<<1, 256>>>(x)
local function launch(context)
    local name = context.line:match("([%a_][%w_.]*) <<") or "k"
    return ("a kernel is launched by %s(blocks, threads, x, ...), with { stream = s } last; "
        .. "%s = lab.kernel{ source = ... } compiles it"):format(name, name)
end

local function named(what)
    return function(context, ...)
        return names[what](context, ...)
    end
end

local syntax <const> = {
    { message = "near '!'$", line = "^! %a", hint = commands },
    { message = "near '!'$", after = "^=$", hint = "not equal is written ~=" },
    { message = "near '!'$", hint = "not is a word: not x" },
    { message = "near '&'$", before = "^&$", hint = "&& is written and" },
    { message = "near '&'$", after = "^&$", hint = "&& is written and" },
    { message = "symbol near '&'$", line = "[mM]alloc%w* %( &", hint = memory },
    { message = "symbol near '&'$", hint = "there are no addresses: what a function makes is its "
        .. "result, s = lab.stream()" },
    { message = "near '|'$", before = "^|$", hint = "|| is written or" },
    { message = "near '|'$", after = "^|$", hint = "|| is written or" },
    { message = "near '%+'$", after = "^%+$", hint = "there is no ++; write x = x + 1" },
    { message = "near '([-+*/%%^&|]+)'$", after = "^==?$",
      hint = "there is no %1=; write x = x %1 ..." },
    { message = "near '%.%.'$", after = "^=$", hint = "there is no ..=; write x = x .. y" },
    { message = "near '%*'$", before = "^%*$", hint = "a power is written x^2" },
    { message = "near '%*'$", line = "%* [%w_]+ ; cuda%u?%l*[mM]alloc", hint = memory },
    { message = "near '%*'$", before = "^%l+$", hint = declaration },
    { message = "near '@'$", hint = "the product of two matrices is lab.matmul(a, b)" },
    { message = "near '<<'$", after = "^<$", hint = launch },
    { message = "near '%-'$", after = "^>$", hint = arrow },
    { message = "near '>'$", before = "^%-$", hint = arrow },
    { message = "near '[<>]'$", line = "[%w_)%]] < > [%w_(]", hint = "not equal is written ~=" },
    { message = "near '==?'$", line = "[%w_)%]] == = [%w_(]", hint = "equality is written ==" },
    { message = "near ':'$", line = "%[ :", hint = parts },
    { message = "near '='$", before = "^:$", hint = assignment },
    { message = "near ':'$", after = "^=$", hint = assignment },
    { message = "near ':'$", line = "^local [%w_]+ : [%w_.]+ =", hint = "values have types, "
        .. "variables have none: local x = 1" },
    { message = "^'%]' expected near '[:,]'$", hint = parts },
    { message = "^'%)' expected near ','$", line = "[%w_] %( %( [^()]*,",
      hint = "there are no tuples: f(3, 4) with one pair of parentheses" },
    { message = "near ", line = "^# include ",
      hint = "there are no headers: lab is there already" },
    { message = "near ", line = "^# define ",
      hint = "constants are declared by local n <const> = 1" },
    { message = "near ", line = "^# ", hint = "comments begin with --" },
    { message = "near '#'$", before = "^[^=(,]*$", hint = "comments begin with --" },
    { message = "near '//'$", line = "^//", hint = "comments begin with --" },
    { message = "near '/'$", line = "^/ %*", hint = "comments over several lines are --[[ ... ]]" },
    { message = "symbol near '%['$", line = "lab %. %l+ %( %[", hint = sizes_in_brackets },
    { message = "symbol near '%['$", hint = "lists are written { 1, 2 }" },
    { message = "near '%?'$", line = "^[%w_.: ]+%?[? ]*$", hint = trailing_question },
    { message = "near '%?'$", hint = conditional },
    { message = "near '>'$", line = "^lab %[ %d+ %] >", hint = prompts },
    { message = "near '>>'$", line = "^>> >", hint = prompts },
    { message = "near '%$'$", line = "^%$ ", hint = shell },
    { message = "near '/'$", line = "^build / streamlab", hint = shell },
    { message = "near '%%'$", line = "^%% %a", hint = ".help lists the console's commands, and "
        .. "timeit(f) measures" },
    { message = "near ", before = "^help$", hint = help_word },
    { message = "'then' expected near 'else'$", line = "[=(,] .* if .* else", hint = conditional },
    { message = "'then' expected near 'else'$", line = "return .* if .* else", hint = conditional },
    { message = " expected near 'if'$", line = " if .* else", hint = conditional },
    { message = "near 'is'$", hint = equality },
    { message = "near ", before = "^is$", hint = equality },
    { message = "'then' expected near 'in'$",
      hint = "there is no in for conditions; t[x] ~= nil asks whether t has the key x" },
    { message = "'then' expected near '='$", hint = "= assigns; == compares" },
    { message = "'do' expected near '='$", line = "while ", hint = "= assigns; == compares" },
    { message = "near '{'$", line = "function.*%) {", hint = "a function is written "
        .. "function f(x) ... end" },
    { message = "<name> expected near '%('$", line = "^for %(",
      hint = loops },
    { message = "expected near 'to'$", line = "for ",
      hint = loops },
    { message = "expected near '='$", line = "%(", before = "^[%a_][%w_]*$",
      hint = parameters_or_arguments },
    { message = "'}' expected near ':'$",
      hint = "fields are written { name = value }, or { [\"any text\"] = value }" },
    { message = "'do' expected", line = "for .* in range %b() :", hint = loops },
    { message = "'then' expected", hint = other_blocks },
    { message = "'do' expected", hint = other_blocks },
    { message = ".", line = "lambda [%w_ ,]*:", hint = "a function is written "
        .. "function(x) return x + 1 end" },
    { message = "near ", line = "^elif ", hint = "elif is written elseif" },
    { message = "near ", line = "^elsif ", hint = "elsif is written elseif" },
    { message = "near ", line = "^else if .*:$", hint = "else if is written elseif ... then" },
    { message = "'end' expected %(to close 'if' at line (%d+)%)", hint = else_if },
    { message = "near ", line = "^def ", hint = "a function is written function f(x) ... end" },
    { message = "near ", before = "^func?$", hint = "a function is written function f(x) ... end" },
    { message = "near ", line = "^import torch", hint = in_lab },
    { message = "near ", line = "^from torch", hint = in_lab },
    { message = "near ", line = "^import ", hint = "a library is loaded by "
        .. "local name = require \"name\"; lab is there already" },
    { message = "near ", line = "^from .* import", hint = "a library is loaded by "
        .. "local name = require \"name\"; lab is there already" },
    { message = "near ", line = "^with .*no_grad", hint = "there are no gradients; leave it out" },
    { message = "near ", line = "^with .*profile", hint = "lab.profile(function() ... end) records "
        .. "what the function does" },
    { message = "near ", line = "^with [%a_].*:", hint = with_stream },
    { message = "near ", before = "^class$", hint = "there are no classes; a table holds what "
        .. "belongs together: net = { weights = w }" },
    { message = "near ", before = "^assert$",
      hint = "assert takes parentheses: assert(x, \"text\")" },
    { message = "near ", before = "^print$", hint = "print takes parentheses: print(x)" },
    { message = "near ", before = "^continue$",
      hint = "there is no continue; goto a label at the end of the loop: goto next ... ::next::" },
    { message = "near ", before = "^raise$", hint = "an error is raised by error(\"text\")" },
    { message = "near ", before = "^throw$", hint = "an error is raised by error(\"text\")" },
    { message = "near ", before = "^del$", hint = "a value is dropped by x = nil" },
    { message = "near '<<'$", before = "^cout$", hint = printing },
    { message = "near ", line = "[%w_] :: [%w_]+ [%(:]", hint = colons },
    { message = "near '::'$", hint = colons },
    { message = "near ", line = "^using namespace ", hint = in_lab },
    { message = "near ", line = "^template <", hint = a_function },
    { message = "near ", line = "^void [%w_]+ %(", hint = a_function },
    { message = "near ", before = "^dim3$", hint = "a grid of several dimensions is a table: "
        .. "k({ 4, 4 }, 256, ...)" },
    { message = "near ", before = "^struct$", hint = no_types },
    { message = "near ", before = "^typedef$", hint = no_types },
    { message = "near ", before = "^enum$", hint = no_types },
    { message = "near ", line = "^switch %(", hint = choice },
    { message = "near ", line = "^case .*:", hint = choice },
    { message = "near ", line = "^load [%w_./ ]+ %. lua$", hint = "a script is run by .load FILE" },
    { message = "near ", line = "^run [%w_./ ]+ %. lua$", hint = "a script is run by .load FILE" },
    { message = "near ", before = "^new$", hint = "a value is made by a call: s = lab.stream()" },
    { message = "near ", line = "^if .* {$", hint = blocks },
    { message = "near ", line = "^do {", hint = "a loop with its condition at the end is written "
        .. "repeat ... until x" },
    { message = "near '}'$", line = "^}", hint = "blocks end with end" },
    { message = "near ", before = "^async$", hint = "every function can be run as a coroutine: "
        .. "coroutine.wrap(f); lab.thread(f) runs beside" },
    { message = "near ", before = "^await$", hint = "waits are calls: s:synchronize(), t:join()" },
    { message = "near ", before = "^yield$", hint = "coroutine.yield(x), within coroutine.wrap" },
    { message = "near '[%a_]", before = "^[%a_]+$", hint = declaration },
    { message = "near '\"", line = "\"\" \"\" \"\"", hint = "text over several lines is [[...]]" },
    { message = "near '\"", line = "\"\" \"\"", hint = names.triple_quotes },
    { message = "near <eof>$", line = "^for .* in range %b() :", hint = loops },
    { message = "near <eof>$", line = "^while .*:$", hint = blocks },
    { message = "near <eof>$", line = "^for .*:$", hint = blocks },
    { message = "near ", line = "^try :", hint = catching },
    { message = "near <eof>$", line = "^if .* {", hint = blocks },
    { message = "near <eof>$", line = "^while .* {", hint = blocks },
    { message = "near ", line = "^show [%w_./ -]+ %. json",
      hint = "in the shell: streamlab show FILE; "
        .. "here lab.load(\"FILE\"):show() does it" },
    { message = "near ", hint = named "shell_line" },
    { message = "<eof>'? expected near 'end'$", hint = "this end closes nothing: there is one too "
        .. "many, or a then, do or function is missing before it" },
}

local runtime <const> = {
    { message = "streamlab%.tensor value %(for iterator", hint = listed },
    { message = "'for iterator' .* got streamlab%.tensor", hint = listed },
    { message = "^attempt to get length of a nil value %(global ", line = "^# ",
      hint = "comments begin with --" },
    { message = "^attempt to .* a nil value %(global ", hint = named "shell_line" },
    { message = "^attempt to index a function value %(global 'time'%)$",
      hint = "lab.now_us() reads the host's clock, lab.host_work(ms) keeps the host busy" },
    { message = "^attempt to %l+ .*%(for iterator", hint = named "iterator" },
    { message = "^attempt to .*a nil value %(global '(.*)'%)$", hint = named "global" },
    { message = "^attempt to call a nil value %(field '(.*)'%)$", hint = named "field" },
    { message = "^attempt to index a nil value %(field '(.*)'%)$", hint = named "field" },
    { message = "^attempt to call a nil value %(method '(.*)'%)$", hint = named "method" },
    { message = "^attempt to call a (%l+) value %(method '(.*)'%)$",
      hint = function(_, kind, name)
          return kind ~= "nil" and ("%s is a field: leave out the parentheses, x.%s")
              :format(name, name)
      end },
    { message = "^attempt to .* a function value %(field '(.*)'%)$",
      hint = "%1 is a function, which is called %1()" },
    { message = "^attempt to .* a function value %(method '(.*)'%)$",
      hint = "%1 is a function, which is called %1()" },
    { message = "^attempt to .* a nil value %(field 'integer index'%)$", line = "%[ 0 %]",
      hint = "indices begin at 1" },
    { message = "^attempt to .* a nil value %(field '%?'%)$", line = "%[ 0 %]",
      hint = "indices begin at 1" },
    { message = "^attempt to add a '.*string'", hint = "texts are joined by .. and not by +" },
    { message = "^attempt to perform arithmetic on a string value", line = "%+",
      hint = "texts are joined by .. and not by +" },
    { message = "^attempt to mod a 'string'",
      hint = "texts are filled in by (\"%d bytes\"):format(n)" },
    { message = "^attempt to mul a 'string' with a 'number'",
      hint = "texts are repeated by (\"x\"):rep(n)" },
    { message = "^attempt to get length of a streamlab%.tensor",
      hint = "its sizes are t:size(), and t:numel() counts its elements" },
    { message = "^attempt to compare .*streamlab%.tensor",
      hint = "tensors are not compared element by element; lab.allclose(a, b) "
          .. "compares two, a:item() gives a number" },
    { message = "^attempt to perform %l+ .*on a streamlab%.tensor",
      hint = "tensors are added, subtracted, multiplied and divided (+ - * /), and raised to a "
          .. "power (^)" },
    { message = "^attempt to compare .* with nil$", hint = named "compared" },
    { message = "^attempt to compare nil with ", hint = named "compared" },
    { message = "^attempt to compare two nil values$", hint = named "compared" },
    { message = " must be .*, got nothing$", hint = named "argument" },
    { message = "^bad argument .* got n[io][l ].*%)$", hint = named "argument" },
    { message = "^attempt to concatenate a boolean value",
      hint = "tostring(x) makes a text of it" },
    { message = "^attempt to concatenate a table value",
      hint = "tostring(x) makes a text of it" },
    { message = "^attempt to concatenate a streamlab%.", hint = "tostring(x) makes a text of it" },
    { message = "^argument 1 %(options%) .*, got function$", op = "record",
      hint = "lab.profile(f) records what f does" },
    { message = "^argument 1 %(options%) .*, got stream$", op = "stream", hint = with_stream },
    { message = "^argument 1 %(stream%) must be a stream, got device$", op = "with",
      hint = "d:make_current() makes a device current; lab.with takes a stream" },
    { message = "^argument 2 %(f%) must be a function, got ", op = "with", hint = called_already },
    { message = "^options have names, but the table has list items$", hint = listed_options },
    { message = "^virtual time has passed ", hint = "lab.open{ profile = \"h200\" } opens "
        .. "another simulated GPU, whose clock begins at 0" },
    { message = "^argument 1 is one too many, got string", op = "device", hint = named "device" },
    { message = "^module '(torch.*)' not found", hint = in_lab },
    { message = "^module '(numpy.*)' not found",
      hint = "numbers are in tensors: lab.tensor({ { 1, 2 }, { 3, 4 } })" },
}

-- ---- looking through them ------------------------------------------------------------------

-- The index of the word that begins at the mark or around it; behind the last word, if the
-- mark is at the script's end.
local function marked_word(script, place)
    local mark = place.marks[1]
    if not mark then
        return nil
    end
    for i, token in ipairs(script.tokens) do
        if token.line == place.number and token.kind ~= "comment" and token.from <= mark.from
            and token.to >= mark.from then
            return i
        elseif token.line > place.number then
            return i
        end
    end
    return #script.tokens + 1
end

local function context_of(report, place)
    local script, last = place.script, place.places[#place.places]
    local index = marked_word(script, last)
    local function word(i)
        local token = index and script.tokens[i]
        return token and token.text or ""
    end
    return {
        script = script, number = last.number, index = index, op = report.op,
        line = code_of(script, last.number), source = place.source, paths = last.marks,
        before = index and word(index - 1) or "", after = index and word(index + 1) or "",
    }
end

-- The captures of the message if all of the entry fits, else nil.
local function match(entry, context, message)
    local captures = { message:match(entry.message) }
    local fits = captures[1]
        and (not entry.line or context.line:find(entry.line))
        and (not entry.before or context.before:find(entry.before))
        and (not entry.after or context.after:find(entry.after))
        and (not entry.op or entry.op == context.op)
    return fits and captures or nil
end

-- The hint for an error, or nil. Given the report (repl/run/traceback.h) and the place that
-- errors.lua has found.
function hints.find(report, place)
    local context = context_of(report, place)
    for _, entry in ipairs(place.syntax and syntax or runtime) do
        local captures = match(entry, context, place.message)
        if captures and type(entry.hint) == "function" then
            local hint = entry.hint(context, table.unpack(captures))
            if hint then
                return hint
            end
        elseif captures then
            return (entry.hint:gsub("%%(%d)", function(i)
                return captures[tonumber(i)]
            end))
        end
    end
end

return hints
