-- class.lua - finds the submissions of a class: in a folder, a file NAME.lua for each student, or
-- a folder NAME with one .lua file somewhere in it, as course systems and clones have them.

local result_names = import "repl/labs/result_names.lua"
local variants = import "repl/labs/variants.lua"

local class = {}

-- Files of systems beside the submission: ".git", "._submission.lua".
local function is_leftover(name)
    return name:find("^%.") ~= nil or name == "__MACOSX/"
end

local function is_lua(name)
    return name:lower():find("%.lua$") ~= nil
end

-- The sorted names in a folder, folders with a slash at the end; or nil and why it cannot be
-- read.
local function names_in(folder)
    local names, reason = program.folder(folder)
    if names then
        table.sort(names)
    end
    return names, reason
end

-- Adds the paths of the .lua files in a folder and below it, until there are two. A link could lead
-- out of it, to another's submission or to the lab's own tests. Gives why one cannot be read.
local function add_files(list, folder)
    local names, reason = names_in(folder)
    for _, name in ipairs(names or {}) do
        local path = folder .. "/" .. name:gsub("/$", "")
        if is_leftover(name) or program.file_kind(path) == "link" then
            goto continue
        elseif is_lua(name) then
            list[#list + 1] = path
        elseif name:find("/$") then
            reason = add_files(list, path) or reason
        end
        if #list > 1 then
            break
        end
        ::continue::
    end
    return reason
end

local function of_folder(student, path)
    if program.file_kind(path) == "link" then
        return { student = student, file = path, problem = "it is a link, not a folder" }
    end
    local files = {}
    local reason = add_files(files, path)
    local problem = #files > 1 and "there is more than one .lua file in the folder"
        or #files == 0 and (reason and "the folder cannot be read: " .. reason
            or "there is no .lua file in the folder") or nil
    return { student = student, file = files[1] or path, problem = problem }
end

local function of_file(student, path)
    return { student = student, file = path,
        problem = program.file_kind(path) == "link" and "it is a link, not a file" or nil }
end

-- The submissions in a folder, {student =, file =, problem = why it cannot be graded, result =},
-- and the names of other files; or nil and why it cannot be read. The lab's own right/ and wrong/
-- are classes whose files may be changes of the solution.
function class.find(folder, lab_folder)
    local has_changes = lab_folder ~= nil and variants.are_in(folder, lab_folder)
    local list, others, taken = {}, {}, {}
    local names, reason = names_in(folder)
    if not names then
        return nil, reason
    end
    for _, name in ipairs(names) do
        local bare = name:gsub("/$", "")
        local path, student = folder .. "/" .. bare, bare
        if is_leftover(name) then
            goto continue
        elseif name:find("/$") then
            student = taken[bare] and name or bare      -- "ada/" beside ada.lua
            list[#list + 1] = of_folder(student, path)
        elseif is_lua(name) or has_changes and variants.is_change(name) then
            student = variants.stem(name)
            student = taken[student] and bare or student
            list[#list + 1] = of_file(student, path)
        else
            others[#others + 1] = name
        end
        taken[student] = true
        ::continue::
    end
    result_names.give(list)
    return list, others
end

return class
