-- 00-functions.t.lua - the recorder knows each of CUDA's functions that launches, copies, waits,
-- allocates, or makes or destroys what these use. Those that it leaves out are listed here, with
-- the reason. The functions are those of CUPTI's headers.
local tap = require "tap"

-- Names as they begin behind "cu" or "cuda", and "__" before that.
local left_out <const> = {
    ["only tell something"] = {
        "Array3DGet", "ArrayGet", "CheckpointProcessGet", "ChooseDevice", "CtxGet", "D3D10Get",
        "D3D10ResourceGet", "D3D11Get", "D3D9Get", "D3D9ResourceGet", "DeviceCanAccessPeer",
        "DeviceComputeCapability", "DeviceGet", "DevicePrimaryCtxGetState", "DeviceTotalMem",
        "DriverGet", "EventElapsedTime", "FuncGet", "FuncIsLoaded", "GLGetDevices", "Get",
        "GraphChildGraphNodeGetGraph", "GraphDebugDotPrint", "GraphEventRecordNodeGetEvent",
        "GraphEventWaitNodeGetEvent", "GraphExecGetFlags",
        "GraphExternalSemaphoresSignalNodeGetParams", "GraphExternalSemaphoresWaitNodeGetParams",
        "GraphGet", "GraphHostNodeGetParams", "GraphBatchMemOpNodeGetParams",
        "GraphKernelNodeGet", "GraphMemAllocNodeGetParams", "GraphMemFreeNodeGetParams",
        "GraphMemcpyNodeGetParams", "GraphMemsetNodeGetParams", "GraphNodeFindInClone",
        "GraphNodeGet", "GraphicsResourceGet", "GraphicsSubResourceGet", "GreenCtxGet",
        "HostGet", "IpcGet", "KernelGet", "LibraryEnumerate", "LibraryGet", "LogsCurrent",
        "LogsDump", "MemGet", "MemHostGet", "MemPeerGet", "MemPoolGet", "MemRangeGet",
        "MipmappedArrayGet", "ModuleEnumerate", "ModuleGet", "MulticastGetGranularity",
        "Occupancy", "PeekAtLastError", "PeerGetDevicePointer", "PointerGet", "RuntimeGetVersion",
        "StreamGet", "StreamIsCapturing", "SurfObjectGet", "SurfRefGet", "TexObjectGet",
        "TexRefGet", "VDPAUGetDevice", "WGLGetDevice", "CoredumpGet", "ThreadGet",
        "DeviceGetCount", "NVNbufferGetPointer", "NVNtextureGetArray",
    },
    ["only set something, or describe what comes later"] = {
        "ConfigureCall", "CoredumpSet", "CreateChannelDesc", "CtxDisablePeerAccess",
        "CtxFromGreenCtx", "CtxPopCurrent", "CtxPushCurrent", "CtxResetPersistingL2Cache",
        "CtxSet", "DevResourceGenerateDesc", "DevSmResourceSplitByCount",
        "DeviceDisablePeerAccess", "DevicePrimaryCtxSetFlags", "DeviceSet", "FuncSet",
        "KernelSet", "MemAdvise", "MemPoolSet", "MemSet", "MultiKernelCooperativeDomain", "NNSet",
        "ParamSet", "PointerSetAttribute", "ProfilerInitialize", "ProfilerSt", "SetDevice",
        "SetDoubleFor", "SetValidDevices", "SetupArgument", "StreamCopyAttributes", "StreamSet",
        "StreamUpdateCaptureDependencies", "TensorMap", "ThreadExchangeStreamCaptureMode",
        "ThreadSet", "PopCallConfiguration", "PushCallConfiguration", "DeviceRegisterAsync",
        "DeviceUnregisterAsync", "LogsRegister", "LogsUnregister", "UserObject",
    },
    ["build graphs, which run when they are launched"] = {
        "GraphAdd", "GraphClone", "GraphConditionalHandleCreate", "GraphCreate", "GraphDestroy",
        "GraphExecBatchMemOp", "GraphExecChild", "GraphExecDestroy", "GraphExecEventWait",
        "GraphExecExternal", "GraphExecHost", "GraphExecKernel", "GraphExecMem",
        "GraphExecNodeSet", "GraphEventWaitNodeSetEvent", "GraphExternalSemaphores",
        "GraphHostNodeSet", "GraphKernelNodeCopy", "GraphKernelNodeSet", "GraphBatchMemOpNodeSet",
        "GraphMemcpyNodeSet", "GraphMemsetNodeSet", "GraphNodeSet", "GraphReleaseUserObject",
        "GraphRemove", "GraphRetainUserObject",
    },
    ["make or destroy what no order in a stream depends on"] = {
        "CreateSurface", "CreateTexture", "DestroyExternal", "DestroySurface", "DestroyTexture",
        "EventCreate", "ExternalMemory", "ImportExternal", "LinkCreate", "LinkDestroy",
        "SemaphoreCreate", "SemaphoreDestroy", "SemaphoreExport", "SurfObject", "SurfRef",
        "TexObject", "TexRef", "BindSurface", "BindTexture", "UnbindTexture", "BinaryFree",
        "CompilePtx",
    },
    ["address, share or map memory that is allocated by others"] = {
        "MemAddress", "MemExport", "MemImport", "MemPoolCreate", "MemPoolExport", "MemPoolImport",
        "MemRetain", "Multicast", "MemPeer", "Peer",
    },
    ["begin before the recorder does, or are called by each first call"] = {
        "Init", "CtxAttach", "DevicePrimaryCtxRetain", "RegisterFatBinary", "RegisterFunction",
        "RegisterHostVar", "RegisterManagedVar", "RegisterUnifiedTable", "RegisterVar",
        "UnregisterFatBinary",
    },
    ["serve graphics, video or other devices"] = {
        "D3D", "EGL", "GL", "Graphics", "VDPAU", "FlushGPUDirect", "DeviceFlushGPUDirect",
    },
    ["stop the process to save it"] = { "CheckpointProcess" },
    ["belong to programs of 32 bits"] = { "64" },
}

local function read(path)
    local file = io.open(path)
    local text = file and file:read "a"
    if file then file:close() end
    return text
end

local function find_header(name)
    local folders = { "/usr/local/cuda/include/", "/usr/local/cuda/extras/CUPTI/include/" }
    local home = os.getenv "CUDA_HOME"
    if home then
        table.move({ home .. "/include/", home .. "/extras/CUPTI/include/" }, 1, 2, 3, folders)
    end
    for _, folder in ipairs(folders) do
        local text = read(folder .. name)
        if text then return text end
    end
    tap.skip_all "CUPTI's headers are not in the toolkit's folder"
end

-- Before the first check: without them nothing is tried.
local headers <const> = { find_header "cupti_runtime_cbid.h", find_header "cupti_driver_cbid.h" }

-- How the names of recorded functions begin: rows of a table.
local recorded = {}
local rows <const> = read "core/record/recorded_calls.c":match "recorded%[%] = (%b{})"
for name in rows:gmatch '{ "(%w+)",' do
    recorded[#recorded + 1] = name
end
tap.ok(#recorded > 40, "the recorder's table is read")

local function begins(name, list)
    for _, start in ipairs(list) do
        if name:sub(1, #start) == start then return start end
    end
end

local unknown, n = {}, 0
for _, header in ipairs(headers) do
    for full in header:gmatch "_TRACE_CBID_([%w_]+)%s*= %d+" do
        local name = full:gsub("^_*", ""):gsub("^cuda", ""):gsub("^cu", "")
        local known = begins(name, recorded)
        for _, list in pairs(left_out) do
            known = known or begins(name, list)
        end
        n = n + 1
        if not known and full ~= name then unknown[#unknown + 1] = full end
    end
end
tap.ok(n > 500, "the headers list CUDA's functions")
tap.is(table.concat(unknown, " "), "", "each is recorded, or left out for a reason")

tap.done()
