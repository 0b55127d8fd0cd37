#!/bin/sh
# 80-gpu-build.t.sh - for which GPUs make builds the CUDA backend. The toolkit and the driver are
# played: nvcc says what it knows, the driver which GPUs answer, and make only says what it would do.
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
[ -z "${STREAMLAB_SANITIZE:-}" ] || skip_all "a sanitized program has no CUDA backend"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p "$folder/toolkit/bin" "$folder/toolkit/lib64" "$folder/toolkit/include/nvtx3" "$folder/build"
touch "$folder/toolkit/lib64/libcudart_static.a" "$folder/toolkit/include/cublasLt.h" \
    "$folder/toolkit/include/nvrtc.h" "$folder/toolkit/include/nvtx3/nvToolsExt.h"
cat >"$folder/toolkit/bin/nvcc" <<'END'
#!/bin/sh
printf 'sm_%s\n' 75 80 90 100 103
END
# And the compiler that nvcc needs, where there is none.
ln -s nvcc "$folder/toolkit/bin/g++"
chmod +x "$folder/toolkit/bin/nvcc"
export NVCC="$folder/toolkit/bin/nvcc" PATH="$PATH:$folder/toolkit/bin"

# What make would do.
would() { # ARGUMENT...
    make -C "$root" -n V=1 BUILD="$folder/build" NVCC="$NVCC" "$@" 2>&1
}
# The architectures of code and of PTX that it would compile for.
codes() { # ARGUMENT...
    would "$@" | grep -e '-gencode.*launch\.cu' | head -n 1 |
        grep -o 'code=[a-z]*_[0-9]*' | sed 's/code=//' | tr '\n' ' '
}
all='sm_75 sm_80 sm_90 sm_100 compute_75 compute_90 '

is "$(codes GPUS= all)" "" "nothing is compiled for GPUs where none answers"
is "$(would GPUS= all)" "*no GPU answers: the CUDA backend is not built; *make cuda*" "and a line says so"
is "$(codes GPUS= cuda)" "$all" "make cuda compiles for all that nvcc knows, and PTX for those to come"
for goal in install rock wheel deb; do
    is "$(codes GPUS= $goal)" "$all" "so does make $goal"
done
is "$(codes GPUS= check-cuda)" "$all" "and make check-cuda where no GPU answers"
is "$(would GPUS= NVCC= cuda)" "*this needs nvcc*" "make cuda without nvcc is refused"

# A driver with two GPUs of one kind and one of another.
cat >"$folder/driver.c" <<'END'
#include <stdlib.h>
int cuInit(unsigned flags) { return flags || getenv("NO_GPU") ? 100 : 0; }
int cuDeviceGetCount(int *n) { *n = 3; return 0; }
int cuDeviceGet(int *device, int i) { *device = 7 + i; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int major[] = {10, 8, 10}, minor[] = {3, 0, 3};
    *value = attribute == 75 ? major[device - 7] : attribute == 76 ? minor[device - 7] : -1;
    return 0;
}
END
${CC:-cc} -shared -fPIC -o "$folder/libcuda.so.1" "$folder/driver.c"
check $? "a driver is played"
asked() { # GPUS
    GPUS=$1 LD_LIBRARY_PATH=$folder sh "$root/scripts/configure.sh" | sed -n 's/^GPU_ARCHES *:= *//p'
}
is "$(asked /dev/nvidia0)" "80 103 " "the GPUs are asked what they are, by the driver"
is "$(asked '')" "" "but not where there is no device of one"
is "$(NO_GPU=1 asked /dev/nvidia0)" "" "a driver that finds none answers nothing"

is "$(codes GPU_ARCHES='80 103' all)" "sm_80 sm_103 compute_80 " \
    "make compiles for those that answer, and PTX of the earliest"
is "$(codes GPU_ARCHES='80 999' all)" "$all" "and for all where nvcc does not know one of them"
is "$(codes GPU_ARCHES='80 103' install)" "$all" "an installation has code for all, too"

echo "75 80 90 100" >"$folder/build/cuda_arches"
is "$(codes GPUS= all)" "$all" "a build that once had code for all keeps it"
is "$(codes GPU_ARCHES=80 all)" "$all" "also where a GPU answers that it has code for"
is "$(codes GPU_ARCHES=103 all)" "sm_103 compute_103 " "but not where another one answers"
is "$(codes SANITIZE=thread all)" "" "a sanitized build has no plugin"

# The recorder of other programs needs a header alone, which may come and go.
header=$folder/toolkit/include/cupti_activity.h
recorder=$folder/build/libstreamlab_record.so
found() { # which header make takes
    would GPUS= all >"$folder/said"
    sed -n 's/^CUPTI_H *:= *//p' "$folder/build/config.mk"
}
touch "$folder/toolkit/include/cuda.h"
echo "struct CUpti_ActivityCudaEvent2;" >"$header"
rm "$folder/build/config.mk"
is "$(found)" "$header" "CUPTI's header is found in the toolkit"
is "$(grep -c "rm -f $recorder" "$folder/said")" 0 "and the recorder stays"
rm "$header"
[ "$(found)" != "$header" ]
check $? "make looks again when the header is gone"
is "$(would GPUS= CUPTI_INC= all)" "*rm -f $recorder*" "without it the recorder of an earlier build goes"
echo "1..$run"
exit "$failed"
