/* nsys_schema.h - tables as Nsight Systems exports them, and a run in them that one can follow by
 * hand. The columns are those of NVIDIA's "SQLite Schema Reference" for 2026.4 (schema 3.28), but
 * for some that nobody reads. */
#ifndef TESTS_TIMELINE_NSYS_SCHEMA_H
#define TESTS_TIMELINE_NSYS_SCHEMA_H

/* clang-format off */
#define NSYS_STRINGS \
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, -- ID reference value.\n" \
    " value TEXT NOT NULL);"
#define NSYS_RUNTIME \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL," \
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER," \
    " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
#define NSYS_OPERATION \
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL," \
    " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL," \
    " correlationId INTEGER, globalPid INTEGER"
#define NSYS_KERNEL \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (" NSYS_OPERATION ", demangledName INTEGER NOT NULL," \
    " shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER," \
    " registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL," \
    " gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL," \
    " blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL," \
    " dynamicSharedMemory INTEGER NOT NULL, gridId INTEGER, graphNodeId INTEGER, graphId INTEGER);"
#define NSYS_MEMCPY \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" NSYS_OPERATION ", bytes INTEGER NOT NULL," \
    " copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER," \
    " srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER," \
    " migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);"
#define NSYS_MEMSET \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (" NSYS_OPERATION ", value INTEGER NOT NULL," \
    " bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);"
#define NSYS_SYNC \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (" NSYS_OPERATION "," \
    " deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL," \
    " eventSyncId INTEGER);"
#define NSYS_EVENT \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER NOT NULL," \
    " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL," \
    " correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER);"
#define NSYS_GRAPH_TRACE \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (" NSYS_OPERATION ", graphId INTEGER NOT NULL," \
    " graphExecId INTEGER NOT NULL);"
#define NSYS_OVERHEAD \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL," \
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER," \
    " overheadType INTEGER NOT NULL);"
#define NSYS_NVTX \
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL," \
    " rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER," \
    " endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);"
#define NSYS_MEMORY \
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL," \
    " globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL," \
    " address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL," \
    " memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT," \
    " correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER," \
    " localMemoryPoolSize INTEGER, importedMemoryPoolAddress INTEGER);"
#define NSYS_DIAGNOSTIC \
    "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL," \
    " source INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER);"
#define NSYS_GPU \
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT," \
    " busLocation TEXT, totalMemory INTEGER, smCount INTEGER, cuDevice INTEGER," \
    " maxShmemPerSm INTEGER, asyncEngines INTEGER, maxThreadsPerBlock INTEGER," \
    " computeMajor INTEGER, computeMinor INTEGER);"
#define NSYS_STREAM \
    "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER NOT NULL, hwId INTEGER NOT NULL," \
    " vmId INTEGER NOT NULL, processId INTEGER NOT NULL, contextId INTEGER NOT NULL," \
    " priority INTEGER NOT NULL, flag INTEGER NOT NULL);"

/* globalTid of thread 101 of process 100, and globalPid */
#define NSYS_TID "1677721701"
#define NSYS_PID "1677721600"

/* In us: a copy from pageable memory from 20 to 60 in stream 13, called from 10 to 12; an event
 * behind it; stream 14 waits for that event; a kernel there from 61 to 98, called from 17 to 19;
 * the host waits for stream 14 until 100. */
#define NSYS_RUN \
    "INSERT INTO StringIds VALUES (1, 'cudaMemcpyAsync_v3020')," \
    " (2, 'cudaEventRecord_v3020'), (3, 'cudaStreamWaitEvent_v3020')," \
    " (4, 'cudaLaunchKernel_v7000'), (5, 'cudaStreamSynchronize_v3020'), (6, 'cuLaunchKernel')," \
    " (7, 'void scale<float>(float *, int)'), (8, 'scale'), (9, '_Z5scaleIfEvPT_i');" \
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200', '0000:19:00.0', 150000000000, 132," \
    " 0, 233472, 3, 1024, 9, 0);" \
    "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 0, 0, 100, 1, 0, 3)," \
    " (13, 0, 0, 100, 1, 0, 1), (14, 0, 0, 100, 1, -2, 2);" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES" \
    " (10000, 12000, 0, " NSYS_TID ", 1, 1, 0, NULL)," \
    " (13000, 14000, 0, " NSYS_TID ", 2, 2, 0, NULL)," \
    " (15000, 16000, 0, " NSYS_TID ", 3, 3, 0, NULL)," \
    " (17000, 19000, 0, " NSYS_TID ", 4, 4, 0, NULL)," \
    " (17200, 18800, 1, " NSYS_TID ", 4, 6, 0, NULL)," \
    " (20000, 100000, 0, " NSYS_TID ", 5, 5, 0, NULL);" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId," \
    " correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES" \
    " (20000, 60000, 0, 1, 13, 1, " NSYS_PID ", 1048576, 1, 0, 2);" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId," \
    " correlationId, globalPid, demangledName, shortName, mangledName, registersPerThread," \
    " gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory)" \
    " VALUES (61000, 98000, 0, 1, 14, 4, " NSYS_PID ", 7, 8, 9, 32, 64, 2, 1, 32, 8, 1, 512, 1024);"

#define NSYS_WAITS \
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId," \
    " correlationId, globalPid, syncType, eventId, eventSyncId) VALUES" \
    " (15100, 15900, 0, 1, 14, 3, " NSYS_PID ", 2, 4, 77)," \
    " (20000, 99500, 0, 1, 14, 5, " NSYS_PID ", 3, 4294967295, NULL);" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, deviceId, contextId, streamId," \
    " correlationId, globalPid, eventId, eventSyncId) VALUES" \
    " (0, 0, 1, 13, 2, " NSYS_PID ", 4, 77);"

#define NSYS_TABLES \
    NSYS_STRINGS NSYS_RUNTIME NSYS_KERNEL NSYS_MEMCPY NSYS_MEMSET NSYS_SYNC NSYS_EVENT NSYS_GPU \
    NSYS_STREAM
/* clang-format on */

#endif
