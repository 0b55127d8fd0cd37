#!/bin/sh
# 00-layers.t - calls go one way: what each layer may include.
#
#   repl      Lua's headers, its own:
#     main.c    every room's
#     run       no other room's
#     editor    run's, and the terminal's, which nobody else includes; no Lua
#     sandbox   run's, and libseccomp's, which nobody else includes
#     commands  run's, and zlib
#     console   run's and editor's
#     server    run's and console's
#             In Lua a room of repl imports its own files and run's, server also console's; commands
#             and plans import all.
#   bindings  Lua's headers, core/streamlab.h, core/text/divert.h, core/text/temporary_folder.h, its own
#     words     Lua alone: sentences, made of records. It opens no files and prints nothing.
#     pictures  Lua alone: drawings, made of records or of points. The same.
#     exports   Lua alone: files of other programs, made of a timeline. The same: who saves writes them.
#   In core all rooms include core/base.h, which includes nothing but C's library; and more:
#   core      its own, core/graph's, core/custom's, core/comm's and those of the next four; of core/race only
#             streamlab.h what is public: the race checker is an observer, which the core knows no name of. No
#             Lua, CUDA or terminal in any below
#   pictures  core/streamlab.h, core/timeline's, core/whatif's, core/text's, its own
#   traces    the same, and core/record's spool.h and spool_pack.h
#   whatif    core/streamlab.h, core/graph_costs.h, core/timeline's, its own
#   timeline  core/streamlab.h, core/text's, its own
#   text      core/streamlab.h, its own, and zlib, which nobody else includes
#   race      the core's, its own
#   graph     the core's, core/custom's, its own
#   custom    the core's, core/text's, its own
#   comm      the core's, core/text's, core/graph's, its own
#   emulate   core/backend.h, core/custom/source_check.h, core/text/temporary_folder.h,
#             its own
#   numbers   core/backend.h, its own
#   sim       core/backend.h, core/numbers', core/emulate's, its own
#   cuda      core/backend.h, core/numbers', its own, and CUDA's headers, which nobody else includes,
#   record    but for CUPTI's; core/table.h, core/timeline/keys.h, core/cuda/cuda_kernel_names.h,
#             its own
# Scripts and subcommands use nothing but the Lua API. The checker is checked itself, on a
# small tree with one sin of each kind.
#
# Files need each other only in the circles that tests/layers/circles lists, with why: found by the functions
# and variables that objects take from each other. `tests/00-layers.t circles` prints the circles that
# there are, with the names that tie them.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# Prints "file:line <header" or "file:line \"header" for each #include of the files.
includes() { # FILE...
    grep -Hn '^[[:space:]]*#[[:space:]]*include' "$@" /dev/null |
        sed -n 's/^\([^:]*:[0-9]*\):[^<"]*\([<"][^>"]*\)[>"].*/\1 \2/p'
}

# Prints the includes of a folder that are not allowed. Headers in <> are the
# system's, but for those of Lua, CUDA, terminals and zlib.
offenders() { # ROOT FOLDER ALLOWED-PATTERN FOREIGN-PATTERN
    (
        cd "$1" || exit
        folder=$2
        set -- "$2"/*.[ch] "$2"/*.cu "$2"/*.cuh "$3" "$4"
        files=
        while [ $# -gt 2 ]; do
            [ -f "$1" ] && files="$files $1"
            shift
        done
        allowed=$1 foreign=$2
        case $folder in core/*) allowed="$allowed|^\.\./base\.h\$" ;; esac
        [ -n "$files" ] || exit
        # shellcheck disable=SC2086 # a word each
        includes $files | ALLOWED=$allowed FOREIGN=$foreign awk '
            function exists(path,  line, found) {
                found = (getline line < path) >= 0
                close(path)
                return found
            }
            {
                name = substr($2, 2)
                ours = substr($2, 1, 1) == "\""
                folder = $1
                sub("/[^/]*$", "", folder)
                own = ours && name !~ "/" && exists(folder "/" name)
                if (name ~ ENVIRON["FOREIGN"] || (ours && !own && name !~ ENVIRON["ALLOWED"]))
                    print $1, ours ? "\"" name "\"" : "<" name ">"
            }'
    )
}

lua='(^|/)(lua|lauxlib|lualib|luaconf)\.h'
cuda='(^|/)(cuda|cublas|cupti|nvrtc|nccl|nvml|nvtx|nvToolsExt)'
zlib='(^|/)zlib\.h'
seccomp='(^|/)seccomp\.h'
terminal='(^|/)(termios|termio|curses|ncurses|term|histedit|readline|editline)'
backend='^\.\./(backend|graph_costs|table|numbers/[a-z_]+)\.h$'
room_below='^\.\./run/[a-z_]+\.h$'
# What the plugin may use of CUDA: the run-time, cuBLAS, CUPTI, NVTX.
other_cuda='(^|/)(nvml|cufft|cusparse|cusolver|curand|cudnn|thrust|cub/)'
# What the recorder may not: it is loaded into programs that bring their own.
not_cupti='(^|/)(cuda_runtime|cublas|nvrtc|nccl|nvtx|nvToolsExt)'

# One line for each sin of the tree at ROOT.
sins() { # ROOT
    offenders "$1" repl "$lua|^[a-z]+/[a-z_]+\.h\$" "$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" repl/run "$lua" "$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" repl/editor "$room_below" "$lua|$cuda|$zlib|$seccomp"
    offenders "$1" repl/sandbox "$lua|$room_below" "$cuda|$terminal|$zlib"
    offenders "$1" repl/commands "$lua|$room_below" "$cuda|$terminal|$seccomp"
    offenders "$1" repl/console "$lua|$room_below|^\.\./editor/[a-z_]+\.h\$" "$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" repl/server "$lua|$room_below|^\.\./console/[a-z_]+\.h\$" "$cuda|$terminal|$zlib|$seccomp"
    import_sins "$1"
    words_sins "$1"
    offenders "$1" bindings "$lua|^\.\./core/(streamlab|text/(divert|temporary_folder))\.h\$" "$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core '^((text|timeline|whatif|traces|pictures|graph|custom|comm)/[a-z0-9_]+|race/races)\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/text '^\.\./streamlab\.h$' "$lua|$cuda|$terminal|$seccomp"
    offenders "$1" core/whatif '^\.\./(streamlab|graph_costs|timeline/[a-z0-9_]+)\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/timeline '^\.\./(streamlab|text/[a-z0-9_]+)\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/pictures '^\.\./(streamlab|(text|timeline|whatif)/[a-z0-9_]+)\.h$' \
        "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/traces '^\.\./(streamlab|record/spool(_pack)?|(text|timeline)/[a-z0-9_]+)\.h$' \
        "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/record '^\.\./(table|timeline/keys|cuda/cuda_kernel_names)\.h$' \
        "$lua|$terminal|$zlib|$other_cuda|$not_cupti"
    offenders "$1" core/race '^\.\./[a-z_]+\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/custom '^\.\./(text/)?[a-z0-9_]+\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/comm '^\.\./((text|graph)/)?[a-z0-9_]+\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/graph '^\.\./(custom/)?[a-z_]+\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/numbers '^\.\./backend\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/emulate '^\.\./(backend|custom/source_(check|plain)|text/temporary_folder)\.h$' "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/sim "$backend|^\.\./emulate/emulate\.h\$" "$lua|$cuda|$terminal|$zlib|$seccomp"
    offenders "$1" core/cuda "$backend" "$lua|$terminal|$zlib|$other_cuda"
    base_sins "$1"
    script_sins "$1"
    temporary_sins "$1"
    ability_sins "$1"
}

# What all rooms include includes none of their headers.
base_sins() { # ROOT
    (
        cd "$1/core" || exit
        includes base*.[ch] | sed -n '/"base\.h$/d; s|^\([^ ]* "\)|core/\1|p'
    )
}

# Rooms of repl/ import their own Lua files and those of run/, the server also the console's.
import_sins() { # ROOT
    (
        cd "$1" || exit
        import='import *(\{0,1\} *["'\'']repl/'
        for room in run usage console compare labs predict server; do
            [ -d repl/$room ] || continue
            below=run
            [ $room != server ] || below='run\|console'
            find repl/$room -name '*.lua' -exec grep -Hn "$import" {} + |
                grep -v "$import\($below\|$room\)/"
        done
        # Instruments import each other, what subcommands share, their command lines, and how scripts are
        # compared.
        [ ! -d scripts/measure ] ||
            find scripts/measure -name '*.lua' -exec grep -Hn "$import" {} + |
                grep -v "$import\(run\|usage\|compare\)/"
    )
}

# Sentences and pictures are returned, not written, and need nothing of C but what core/text has.
words_sins() { # ROOT
    (
        cd "$1" || exit
        for file in bindings/words/* bindings/pictures/* bindings/exports/*; do
            case $file in
            *\*) ;;
            *.lua) grep -Hn '\<\(io\|os\)\.[a-z]\|\<print *(' "$file" ;;
            *) echo "$file:2 is not in Lua" ;;
            esac
        done
    )
}

# Scripts may require the laboratory and Lua files; no C library of their own.
script_sins() { # ROOT
    (
        cd "$1" || exit
        find scripts bindings repl -name '*.lua' -exec grep -Hn \
            -e 'package\.loadlib\|package\.cpath\|require *(\{0,1\} *["'\'']ffi["'\'']' \
            -e 'require *(\{0,1\} *["'\''][^"'\'']*\(core\|sim\|bindings\|repl\)[./]' {} + 2>/dev/null |
            LC_ALL=C sort
    )
}

# Whoever makes a temporary file or folder in another way than core/text/temporary_folder.c leaves it
# where the process is killed.
temporary_sins() { # ROOT
    (
        cd "$1" || exit
        find core bindings repl -name '*.[ch]' ! -path core/text/temporary_folder.c -exec grep -Hn \
            -e '\<\(mkdtemp\|mkstemp\|mkostemp\|tmpnam\|tempnam\|tmpfile\) *(' {} + 2>/dev/null
        find repl -name '*.lua' ! -path 'repl/playground/*' -exec grep -Hn \
            -e 'os\.tmpname\|io\.tmpfile' {} + 2>/dev/null
    )
}

# The core asks for what a device can, not what it is. Files and pictures say what it is.
ability_sins() { # ROOT
    (
        cd "$1" || exit
        find core -name '*.[ch]' ! -path 'core/sim/*' ! -path 'core/traces/*' ! -path 'core/pictures/*' \
            -exec grep -Hn -e '\(\.\|->\)simulated\>' {} + 2>/dev/null
    )
}

# ---- circles of files ---------------------------------------------------------

layers=$root/tests/layers
build=${STREAMLAB:-build/streamlab}
case $build in /*) ;; *) build=$root/$build ;; esac
build=${build%/*}

# "FROM TO NAME": what files take from each other, by the objects of the sources that are there.
arrows() {
    (
        cd "$root" || exit
        set -- core/*.c core/*/*.c bindings/*.c repl/*.c repl/*/*.c core/cuda/*.cu
        cd "$build" || exit
        for file; do
            object=${file%.c}.o
            [ ! -f "$object" ] || echo "$object"
        done | xargs nm -A -P -g
    ) | awk -f "$layers/arrows.awk"
}

# Without nvcc there are no objects of core/cuda.
allowed_circles() {
    if [ -f "$build/core/cuda/cuda_queue.o" ]; then cat "$layers/circles"; else
        awk '/^[^ ]/ { there = !/core\/cuda\// } there' "$layers/circles"
    fi
}

if [ "$1" = circles ]; then
    arrows | awk -v files=2 -f "$layers/circles.awk"
    exit
fi

# ---- the tree ---------------------------------------------------------------

found=$(sins "$root")
[ -z "$found" ]
check $? "every include follows the layers"
[ -z "$found" ] || echo "$found" | sed 's/^/#   /' >&2

planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
arrows >"$planted/arrows"
allowed_circles >"$planted/circles"
[ "$(wc -l <"$planted/arrows")" -gt 1000 ]
check $? "the objects tell what files take from each other"
found=$(awk -v list="$planted/circles" -f "$layers/circles.awk" "$planted/arrows")
[ -z "$found" ]
check $? "files need each other only in the circles that are listed, each with a reason"
[ -z "$found" ] || echo "$found" | sed 's/^/#   /' >&2

architecture=$root/docs/design/architecture.md
found=$(awk -v list="$layers/circles" -f "$layers/downwards.awk" "$architecture" "$planted/arrows")
[ -z "$found" ]
check $? "files take nothing from a row above theirs in architecture.md, where each of them is"
[ -z "$found" ] || echo "$found" | sed 's/^/#   /' >&2

# ---- the checker ------------------------------------------------------------

# Each line gets a file of its own, and the checker looks at all of them at once.
n=0
place() { # VERDICT FILE LINE NAME
    n=$((n + 1))
    file=${2%.*}$n.${2##*.}
    mkdir -p "$planted/${file%/*}"
    printf '/* a file */\n%s\nint x;\n' "$3" >"$planted/$file"
    echo "$1 $file:2 $4" >>"$planted/all"
}
plant() { place finds "$@"; }
allow() { place allows "$@"; }

plant repl/run/a.c '#include "../../core/streamlab.h"' "the core in the program"
plant repl/run/a.c '#include "../../bindings/lsl.h"' "the bindings in the program"
plant repl/a.c '#include "../bindings/lsl.h"' "the bindings in main.c"
plant repl/run/a.c '#include "../console/console.h"' "the console in what runs scripts"
plant repl/editor/a.c '#include "../console/console.h"' "the console in the line editor"
plant repl/editor/a.c '#include <lua.h>' "Lua in the line editor"
plant repl/sandbox/a.c '#include "../commands/commands.h"' "the subcommands in the sandbox"
plant repl/commands/a.c '#include "../console/console.h"' "the console in the subcommands' C"
plant repl/console/a.c '#include <histedit.h>' "the terminal outside of the editor"
plant repl/run/a.c '#include <zlib.h>' "zlib in what runs scripts"
plant repl/commands/a.c '#include <seccomp.h>' "libseccomp outside of the sandbox"
plant repl/run/a.lua 'local who = import "repl/console/who.lua"' "the console's Lua in what runs scripts"
plant repl/labs/a.lua 'local runs = import("repl/compare/runs.lua")' "compare's Lua in the grader"
plant scripts/measure/a.lua 'local who = import "repl/console/who.lua"' "the console's Lua in an instrument"
plant repl/console/a.c '#include "../server/server.h"' "the server in the console"
plant repl/console/a.lua 'local html = import "repl/server/html.lua"' "the server's Lua in the console"
plant repl/server/a.lua 'local runs = import "repl/compare/runs.lua"' "compare's Lua in the server"
plant bindings/a.c '#include "../core/device.h"' "a private header of the core in the bindings"
plant bindings/a.c '#  include "../core/sim/sim.h"' "the simulator in the bindings"
plant bindings/a.c '#include <cuda_runtime.h>' "CUDA in the bindings"
plant bindings/words/a.c '#include "../lsl.h"' "C in the words"
plant bindings/words/a.lua 'io.write("No kernel ran")' "words that print"
plant bindings/pictures/a.lua 'io.write("|")' "pictures that print"
plant bindings/exports/a.lua 'io.open("x")' "exports that open files"
plant core/base.c '#include "streamlab.h"' "a header of ours in the ground"
plant core/a.c '#include <lua.h>' "Lua in the core"
plant core/a.h '#include "lauxlib.h"' "Lua in a header of the core"
plant core/a.c '#include <cublas_v2.h>' "CUDA in the core"
plant core/a.c '#include <termios.h>' "the terminal in the core"
plant core/a.c '#include "sim/sim.h"' "the simulator in the core"
plant core/a.c '#include <zlib.h>' "zlib in the core"
plant core/a.c '#include "race/checker.h"' "the race checker in the core"
plant core/graph/a.c '#include "../race/checker.h"' "the race checker in the graphs"
plant core/comm/a.h '#include "../race/state.h"' "the race checker in the communicators"
plant core/traces/a.c '#include <zlib.h>' "zlib in the traces"
plant core/text/a.c '#include "../timeline/timeline.h"' "the timeline in the texts"
plant core/timeline/a.c '#include <zlib.h>' "zlib in the timeline"
plant core/timeline/a.c '#include "../pictures/pictures.h"' "the pictures in the timeline"
plant core/timeline/a.c '#include "../traces/traces.h"' "the traces in the timeline"
plant core/traces/a.c '#include "../pictures/pictures.h"' "the pictures in the traces"
plant core/pictures/a.h '#include "../traces/traces.h"' "the traces in the pictures"
plant core/traces/a.c '#include "../record/recorder.h"' "the recorder in the traces"
plant core/record/a.c '#include "../streamlab.h"' "the core in the recorder"
plant core/record/a.c '#include "../cuda/cuda_activity.h"' "the plugin in the recorder"
plant core/record/a.c '#include <cuda_runtime_api.h>' "the run time in the recorder"
plant core/pictures/a.c '#include "../device.h"' "a private header of the core in the pictures"
plant core/timeline/a.c '#include "../whatif/gains.h"' "what-if in the timeline"
plant core/timeline/a.c '#include "../device.h"' "a private header of the core in the timeline"
plant core/sim/a.c '#include "../streamlab.h"' "more than backend.h in the simulator"
plant core/sim/a.c '#include "../timeline/timeline.h"' "the timeline in the simulator"
plant core/sim/a.c '#include "../cuda/cuda.h"' "the other backend in the simulator"
plant core/sim/a.c '#include <cuda_runtime_api.h>' "CUDA in the simulator"
plant core/custom/a.c '#include <nvrtc.h>' "NVRTC in the core"
plant core/comm/a.c '#include <nccl.h>' "NCCL in the core"
plant core/comm/a.c '#include "../sim/sim.h"' "the simulator in the communicators"
plant core/numbers/a.h '#include "../sim/sim.h"' "a backend in the numbers"
plant core/numbers/a.h '#include <cuda_fp16.h>' "CUDA in the numbers"
plant core/cuda/a.c '#include "../device.h"' "a private header of the core in the plugin"
plant core/cuda/a.cu '#include "../sim/sim.h"' "the simulator in a CUDA file of the plugin"
plant core/cuda/a.cuh '#include "../streamlab.h"' "more than backend.h in a CUDA header"
plant core/cuda/a.c '#include <lua.h>' "Lua in the plugin"
plant core/cuda/a.c '#include <nvml.h>' "another library of CUDA's in the plugin"
plant core/cuda/a.cu '#include <thrust/sort.h>' "thrust in the plugin"
plant scripts/a.lua 'local s = require "core.sim.engine"' "C internals in a script"
plant repl/commands/a.lua 'local lsl = require "bindings.lsl"' "C internals in a subcommand"
plant repl/labs/a.lua 'local lsl = require "bindings.lsl"' "C internals in the grader"
plant scripts/labs/a/b.lua 'local lsl = require "bindings.lsl"' "C internals in a course lab"
plant core/sim/a.c 'fd = mkstemp(path);' "a temporary file that nobody removes"
plant repl/run/a.lua 'local name = os.tmpname()' "and one in Lua"
plant scripts/a.lua 'package.loadlib("./x.so", "f")' "a C library in a script"
allow repl/a.c '#include "run/run.h"' "each room in main.c"
allow repl/run/a.c '#include <lua.h>' "Lua in the program"
allow repl/console/a.c '#include "../editor/reader.h"' "the editor in the console"
allow repl/editor/a.c '#include <histedit.h>' "the terminal in the editor"
allow repl/server/a.c '#include "../console/entry.h"' "the console in the server"
allow repl/server/a.lua 'local help = import "repl/console/help/help.lua"' "the console's Lua in the server"
allow repl/sandbox/a.c '#include <seccomp.h>' "libseccomp in the sandbox"
allow repl/commands/a.c '#include <zlib.h>' "zlib in the subcommands"
allow repl/commands/a.lua 'local runs = import "repl/compare/runs.lua"' "compare's Lua in a subcommand"
allow scripts/measure/a.lua 'local lists = import "repl/run/lists.lua"' "the lists of run/ in an instrument"
allow repl/labs/a.lua 'local text = import "repl/run/text.lua"' "the texts of run/ in the grader"
allow bindings/a.c '#include "../core/streamlab.h"' "the public header in the bindings"
plant core/a.c 'if (device->info.simulated)' "a question for what a device is"
plant core/timeline/a.c 'if (sl_timeline_device(timeline)->simulated)' "the same of a timeline"
allow core/traces/a.c 'sl__write_bool(w, info->simulated);' "what a device is in a file"
allow core/sim/a.c '#include "../base.h"' "the ground in the simulator"
allow core/text/a.c '#include "../base.h"' "the ground in the texts"
allow core/cuda/a.c '#include "../base.h"' "the ground in the plugin"
allow core/a.h '#include "race/races.h"' "the races that are public in the core"
allow core/sim/a.c '#include "../backend.h"' "backend.h in the simulator"
allow core/sim/a.c '#include "../numbers/philox.h"' "the numbers in the simulator"
allow core/cuda/a.cu '#include "../numbers/philox_core.h"' "the numbers in the plugin"
allow core/cuda/a.cu '#include <cuda_bf16.h>' "CUDA's types in the plugin"
allow core/cuda/a.c '#include <cublasLt.h>' "cuBLAS in the plugin"
allow core/cuda/a.c '#include <cupti.h>' "CUPTI in the plugin"
allow core/record/a.c '#include <cupti.h>' "CUPTI in the recorder"
allow core/record/a.c '#include "../cuda/cuda_kernel_names.h"' "the names of kernels in the recorder"
allow core/record/a.c '#include "../timeline/keys.h"' "numbers for keys in the recorder"
allow core/traces/a.c '#include "../record/spool.h"' "the recorder's file in the traces"
allow core/traces/a.c '#include "../record/spool_pack.h"' "how it is packed in the traces"
allow core/cuda/a.c '#include <nvrtc.h>' "NVRTC in the plugin"
allow core/cuda/a.c '#include <nvtx3/nvToolsExt.h>' "NVTX in the plugin"
allow core/numbers/a.h '#include "../backend.h"' "backend.h in the numbers"
allow core/text/a.c '#include <zlib.h>' "zlib in the texts"
allow core/timeline/a.c '#include "../text/text.h"' "the texts in the timeline"
allow core/traces/a.c '#include "../timeline/store.h"' "the timeline in the traces"
allow core/pictures/a.c '#include "../text/xml.h"' "the texts in the pictures"
allow core/timeline/a.c '#include <math.h>' "the C library everywhere"
allow scripts/a.lua 'local lab = require "streamlab"' "the laboratory in a script"

found="
$(sins "$planted")"
while read -r verdict place name; do
    case $found in *"
$place"[!0-9]*) says=finds ;; *) says=allows ;; esac
    [ $says = "$verdict" ]
    check $? "the checker $verdict $name"
done <"$planted/all"

# Objects as nm describes them, each of which defines a function of its name and takes that of others.
objects() { # FILE TAKES...
    for object; do
        name=f_$(echo "${object##*/}" | tr . _)
        if [ "$object" = "$1" ]; then echo "$object.o: $name T 0 10"; else echo "$1.o: $name U"; fi
    done
}
in_circles() { # LIST EXPECTED NAME
    found=$(awk -f "$layers/arrows.awk" "$planted/objects" | awk -v list="$1" -f "$layers/circles.awk")
    [ "$found" = "$2" ]
    check $? "$3"
    [ "$found" = "$2" ] || echo "$found" | sed 's/^/#   /' >&2
}
{
    objects core/a core/b core/e
    objects core/b core/c core/d
    objects core/c core/a
    objects core/d core/e
    objects core/e
    objects core/backends core/sim/s core/a
    objects core/sim/s core/backends
    objects core/cuda/k.cu core/cuda/q
    objects core/cuda/q core/cuda/k.cu
} >"$planted/objects"
kernels='core/cuda/k.cu core/cuda/q.c
  they launch each other'
three='core/a.c core/b.c core/c.c
  they are one mechanism'
: >"$planted/none"
in_circles "$planted/none" \
    'a new circle: core/a.c core/b.c core/c.c: core/a.c takes f_b of core/b.c, and core/c.c takes f_a of it
a new circle: core/cuda/k.cu core/cuda/q.c: core/cuda/k.cu takes f_q of core/cuda/q.c, and core/cuda/q.c takes f_k_cu of it' \
    "circles that are not listed are found; who is only called is in none, and the registry makes none"
printf '%s\n\n%s\n' "$three" "$kernels" >"$planted/all_listed"
in_circles "$planted/all_listed" '' "circles that are listed are allowed"
printf 'core/b.c core/a.c\n  they are one mechanism\n\n%s\n' "$kernels" >"$planted/listed"
in_circles "$planted/listed" \
    'core/c.c has joined the circle of core/b.c: core/c.c takes f_a of core/a.c, and core/b.c takes f_c of it' \
    "a file that joins a listed circle is found"
printf '%s core/d.c core/gone.c\n  they are one mechanism\n%s\n' "${three%%
*}" "$kernels" >"$planted/listed"
in_circles "$planted/listed" \
    'core/d.c is no longer in a circle: take it out of the list, where core/a.c is
core/gone.c is no longer in a circle: take it out of the list, where core/a.c is' \
    "so is a listed file that has left its circle, and one that is not there at all"
printf '%s core/cuda/k.cu core/cuda/q.c\n  all in one\n' "${three%%
*}" >"$planted/listed"
in_circles "$planted/listed" \
    'the circle of core/a.c is in two parts now: core/a.c core/b.c core/c.c and core/cuda/k.cu core/cuda/q.c' \
    "and a listed circle that has fallen into two"
printf '%s\n\n%s\n' "${three%%
*}" "$kernels" >"$planted/listed"
in_circles "$planted/listed" 'no reason is given for the circle of core/a.c' "a circle needs a reason"

# The same objects, and some more, beside tables of files.
cat >"$planted/tables.md" <<'EOT'
## The core's files

| files | |
|---|---|
| `a.c`, `backends.c` | calls |
| `b.c` | calls |
| `text/` | `a.c` is what it is for |
| `c.c`, `e.c` | functions |

`core/text/`: texts.

| files | |
|---|---|
| `high.c` | texts |
| `low.c` | files |

## Another chapter

| `d.c` | this is no table of files |
EOT
{
    objects core/text/high core/text/low core/b
    objects core/text/low core/text/high
    objects core/text/unknown core/text/low
} >>"$planted/objects"
in_rows() { # LIST EXPECTED NAME
    found=$(awk -f "$layers/arrows.awk" "$planted/objects" |
        awk -v list="$1" -f "$layers/downwards.awk" "$planted/tables.md" - | LC_ALL=C sort)
    [ "$found" = "$2" ]
    check $? "$3"
    [ "$found" = "$2" ] || echo "$found" | sed 's/^/#   /' >&2
}
upwards='core/c.c takes f_a of core/a.c, which is in a row above
'
others='core/d.c is in no row
core/text/high.c takes f_b of core/b.c, which is in a row above
core/text/low.c takes f_high of core/text/high.c, which is in a row above
core/text/unknown.c is in no row'
in_rows "$planted/none" "$upwards$others" \
    "what is taken from a row above is found, between files and rooms, and files without a row"
in_rows "$planted/all_listed" "$others" "but within a listed circle, also of files in different rows"

echo "1..$run"
[ "$failed" = 0 ]
