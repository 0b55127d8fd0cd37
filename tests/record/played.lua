-- played.lua - the played programs and the recorder of this build: what tests of this folder share.
-- require "played" (FILE, WHY) skips the test, and says why, if there is no such file. It gives an
-- empty folder, the folder of the played files, a function that runs a command of the shell in the
-- empty folder, with the played CUPTI, and the folder of the build.
local tap = require "tap"
local shell = require "shell"

return function(file, why)
    local build = os.getenv "STREAMLAB":match "^(.*)/[^/]*$"
    local played = build .. "/tests/record"
    if not io.open(played .. "/" .. file) or not io.open(build .. "/libstreamlab_record.so") then
        tap.skip_all(why or "this build has no recorder: it needs CUPTI's header")
    end
    local folder = shell.folder()
    return folder, played, function(command)
        return shell.sh(("cd %s; export STREAMLAB_CUDA_LIB=%s LC_ALL=C.UTF-8; %s"):format(folder,
            played, command))
    end, build
end
