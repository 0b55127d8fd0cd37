-- capture_table.lua - what CUDA's calls return while a stream is captured, and what the end of the
-- capture returns then: "906/901" is error 906, and 901 at the end. Measured in plain CUDA C++ on
-- an NVIDIA H200 (driver 580.159.04) by tests/bench/cuda/raw_graphs.cu, section "rules", whose
-- names of calls these are.
--
-- Six columns: modes "global", "thread_local" and "relaxed", and in each a captured stream that is
-- blocking and one with cudaStreamNonBlocking.

local measured = [[
launch_captured                        0/0      0/0      0/0      0/0      0/0      0/0
launch_other_blocking                  0/0      0/0      0/0      0/0      0/0      0/0
launch_other_nonblocking               0/0      0/0      0/0      0/0      0/0      0/0
launch_null                            906/901  0/0      906/901  0/0      906/901  0/0
launch_legacy                          906/901  0/0      906/901  0/0      906/901  0/0
launch_per_thread                      0/0      0/0      0/0      0/0      0/0      0/0
launch_not_loaded                      0/0      0/0      0/0      0/0      0/0      0/0
host_func_captured                     0/0      0/0      0/0      0/0      0/0      0/0
host_func_other                        0/0      0/0      0/0      0/0      0/0      0/0
host_func_null                         906/901  0/0      906/901  0/0      906/901  0/0
malloc                                 900/901  900/901  900/901  900/901  0/0      0/0
free                                   900/901  900/901  900/901  900/901  0/0      0/0
free_null                              900/901  900/901  900/901  900/901  0/0      0/0
malloc_host                            900/901  900/901  900/901  900/901  0/0      0/0
host_alloc                             900/901  900/901  900/901  900/901  0/0      0/0
host_alloc_mapped                      900/901  900/901  900/901  900/901  0/0      0/0
free_host                              900/901  900/901  900/901  900/901  0/0      0/0
host_register                          900/901  900/901  900/901  900/901  0/0      0/0
host_unregister                        900/901  900/901  900/901  900/901  0/0      0/0
malloc_async_captured                  0/0      0/0      0/0      0/0      0/0      0/0
malloc_async_and_free_async_captured   0/0      0/0      0/0      0/0      0/0      0/0
malloc_async_other_nonblocking         900/901  900/901  900/901  900/901  0/0      0/0
malloc_async_other_blocking            900/901  900/901  900/901  900/901  0/0      0/0
malloc_async_null                      906/901  900/901  906/901  900/901  906/901  0/0
free_async_captured                    1/0      1/0      1/0      1/0      1/0      1/0
free_async_other                       900/901  900/901  900/901  900/901  0/0      0/0
mem_get_info                           0/0      0/0      0/0      0/0      0/0      0/0
memcpy_h2d_pinned                      906/901  0/0      906/901  0/0      906/901  0/0
memcpy_h2d_pinned_1k                   906/901  0/0      906/901  0/0      906/901  0/0
memcpy_h2d_pageable                    906/901  0/0      906/901  0/0      906/901  0/0
memcpy_h2d_pageable_1k                 906/901  0/0      906/901  0/0      906/901  0/0
memcpy_d2h_pinned                      906/901  0/0      906/901  0/0      906/901  0/0
memcpy_d2h_pageable                    906/901  0/0      906/901  0/0      906/901  0/0
memcpy_d2d                             906/901  0/0      906/901  0/0      906/901  0/0
memcpy_h2h                             906/901  0/0      906/901  0/0      906/901  0/0
memcpy_async_h2d_pinned_captured       0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2d_pageable_1k_captured  0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2d_pageable_1m_captured  0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2h_pinned_captured       0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2h_pageable_1k_captured  0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2h_pageable_1m_captured  0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2d_captured              0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2h_captured              0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2d_pinned_other          0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2d_pageable_1k_other     0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2d_pageable_1m_other     0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2h_pageable_1k_other     0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2h_pageable_1m_other     0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_d2d_other                 0/0      0/0      0/0      0/0      0/0      0/0
memcpy_async_h2d_pinned_null           906/901  0/0      906/901  0/0      906/901  0/0
memset                                 906/901  0/0      906/901  0/0      906/901  0/0
memset_async_captured                  0/0      0/0      0/0      0/0      0/0      0/0
memset_async_other                     0/0      0/0      0/0      0/0      0/0      0/0
memset_async_null                      906/901  0/0      906/901  0/0      906/901  0/0
stream_synchronize_captured            900/901  900/901  900/901  900/901  900/901  900/901
stream_query_captured                  900/901  900/901  900/901  900/901  900/901  900/901
stream_synchronize_other_nonblocking   900/901  900/901  900/901  900/901  0/0      0/0
stream_query_other_nonblocking         900/901  900/901  900/901  900/901  0/0      0/0
stream_synchronize_other_blocking      900/901  900/901  900/901  900/901  0/0      0/0
stream_query_other_blocking            900/901  900/901  900/901  900/901  0/0      0/0
stream_synchronize_null                906/901  900/901  906/901  900/901  906/901  0/0
stream_query_null                      906/901  900/901  906/901  900/901  906/901  0/0
stream_synchronize_per_thread          900/901  900/901  900/901  900/901  0/0      0/0
stream_synchronize_forked              900/901  900/901  900/901  900/901  900/901  900/901
device_synchronize                     900/901  900/901  900/901  900/901  900/901  900/901
stream_add_callback_captured           900/901  900/901  900/901  900/901  900/901  900/901
event_record_captured                  0/0      0/0      0/0      0/0      0/0      0/0
event_record_then_query                907/901  907/901  907/901  907/901  907/901  907/901
event_record_then_synchronize          907/901  907/901  907/901  907/901  907/901  907/901
event_record_then_elapsed              907/0    907/0    907/0    907/0    907/0    907/0
event_record_then_synchronize_after    0/0      0/0      0/0      0/0      0/0      0/0
event_record_then_elapsed_after        0/0      0/0      0/0      0/0      0/0      0/0
event_record_then_wait_after           0/0      0/0      0/0      0/0      0/0      0/0
event_record_then_record_after         0/0      0/0      0/0      0/0      0/0      0/0
event_record_external_captured         0/0      0/0      0/0      0/0      0/0      0/0
event_record_external_then_query       900/901  900/901  900/901  900/901  0/0      0/0
event_query_outside                    900/901  900/901  900/901  900/901  0/0      0/0
event_synchronize_outside              900/901  900/901  900/901  900/901  0/0      0/0
event_elapsed_outside                  0/0      0/0      0/0      0/0      0/0      0/0
event_query_never_recorded             900/901  900/901  900/901  900/901  0/0      0/0
event_synchronize_never_recorded       900/901  900/901  900/901  900/901  0/0      0/0
event_record_other_nonblocking         0/0      0/0      0/0      0/0      0/0      0/0
event_record_other_blocking            0/0      0/0      0/0      0/0      0/0      0/0
event_record_null                      906/901  0/0      906/901  0/0      906/901  0/0
event_recorded_here_then_other_stream  0/0      0/0      0/0      0/0      0/0      0/0
wait_outside                           905/901  905/901  905/901  905/901  905/901  905/901
wait_outside_external                  0/0      0/0      0/0      0/0      0/0      0/0
wait_never_recorded                    0/0      0/0      0/0      0/0      0/0      0/0
wait_never_recorded_external           0/0      0/0      0/0      0/0      0/0      0/0
wait_recorded_other_stream_during      905/901  905/901  905/901  905/901  905/901  905/901
wait_own_event                         0/0      0/0      0/0      0/0      0/0      0/0
event_destroy_outside                  0/0      0/0      0/0      0/0      0/0      0/0
event_destroy_recorded                 0/0      0/0      0/0      0/0      0/0      0/0
event_create                           0/0      0/0      0/0      0/0      0/0      0/0
fork_nonblocking_wait_only             0/0      0/0      0/0      0/0      0/0      0/0
fork_nonblocking_unjoined              0/904    0/904    0/904    0/904    0/904    0/904
fork_blocking_unjoined                 0/904    0/904    0/904    0/904    0/904    0/904
fork_nonblocking_joined                0/0      0/0      0/0      0/0      0/0      0/0
fork_blocking_joined                   0/0      0/0      0/0      0/0      0/0      0/0
fork_joined_then_more_in_fork          0/904    0/904    0/904    0/904    0/904    0/904
fork_null                              906/901  906/901  906/901  906/901  906/901  906/901
fork_per_thread                        0/0      0/0      0/0      0/0      0/0      0/0
fork_busy_then_capture                 0/0      0/0      0/0      0/0      0/0      0/0
end_capture_forked_stream              903/901  903/901  903/901  903/901  903/901  903/901
end_capture_other_stream               401/0    401/0    401/0    401/0    401/0    401/0
end_capture_null                       906/901  401/0    906/901  401/0    906/901  401/0
begin_capture_same                     401/0    401/0    401/0    401/0    401/0    401/0
begin_capture_other_nonblocking        0/0      0/0      0/0      0/0      0/0      0/0
begin_capture_other_blocking           0/0      0/0      0/0      0/0      0/0      0/0
begin_capture_null                     906/901  900/0    906/901  900/0    906/901  900/0
begin_capture_forked                   401/904  401/904  401/904  401/904  401/904  401/904
wait_other_capture                     902/901  902/901  902/901  902/901  902/901  902/901
other_capture_waits_for_this           902/901  902/901  902/901  902/901  902/901  902/901
query_event_other_capture              907/0    907/0    907/0    907/0    907/0    907/0
stream_create                          0/0      0/0      0/0      0/0      0/0      0/0
stream_create_nonblocking              0/0      0/0      0/0      0/0      0/0      0/0
stream_destroy_other                   0/0      0/0      0/0      0/0      0/0      0/0
is_capturing_captured                  0/0      0/0      0/0      0/0      0/0      0/0
is_capturing_other                     0/0      0/0      0/0      0/0      0/0      0/0
is_capturing_null                      906/0    0/0      906/0    0/0      906/0    0/0
get_capture_info_captured              0/0      0/0      0/0      0/0      0/0      0/0
get_capture_info_null                  906/0    0/0      906/0    0/0      906/0    0/0
func_set_cache_config                  0/0      0/0      0/0      0/0      0/0      0/0
func_get_attributes                    0/0      0/0      0/0      0/0      0/0      0/0
func_set_attribute                     0/0      0/0      0/0      0/0      0/0      0/0
device_set_limit_stack_same            900/901  900/901  900/901  900/901  0/0      0/0
device_set_limit_heap_more             900/901  900/901  900/901  900/901  0/0      0/0
device_get_attribute                   0/0      0/0      0/0      0/0      0/0      0/0
graph_instantiate_other                900/901  900/901  900/901  900/901  0/0      0/0
graph_launch_captured                  900/901  900/901  900/901  900/901  900/901  900/901
graph_launch_other_nonblocking         0/0      0/0      0/0      0/0      0/0      0/0
graph_launch_other_blocking            0/0      0/0      0/0      0/0      0/0      0/0
graph_launch_null                      906/901  0/0      906/901  0/0      906/901  0/0
graph_upload_captured                  900/901  900/901  900/901  900/901  900/901  900/901
graph_upload_other                     0/0      0/0      0/0      0/0      0/0      0/0
graph_destroy_other                    0/0      0/0      0/0      0/0      0/0      0/0
get_last_error                         0/0      0/0      0/0      0/0      0/0      0/0
spoiled_launch_captured                901/901  901/901  901/901  901/901  901/901  901/901
spoiled_launch_other                   0/901    0/901    0/901    0/901    0/901    0/901
spoiled_launch_null                    906/901  0/901    906/901  0/901    906/901  0/901
spoiled_malloc                         900/901  900/901  900/901  900/901  0/901    0/901
spoiled_memcpy_async_captured          901/901  901/901  901/901  901/901  901/901  901/901
spoiled_memset_async_captured          901/901  901/901  901/901  901/901  901/901  901/901
spoiled_host_func_captured             901/901  901/901  901/901  901/901  901/901  901/901
spoiled_event_record_captured          901/901  901/901  901/901  901/901  901/901  901/901
spoiled_wait_outside                   901/901  901/901  901/901  901/901  901/901  901/901
spoiled_stream_synchronize_captured    900/901  900/901  900/901  900/901  900/901  900/901
spoiled_stream_query_captured          900/901  900/901  900/901  900/901  900/901  900/901
spoiled_device_synchronize             900/901  900/901  900/901  900/901  900/901  900/901
spoiled_event_query_outside            900/901  900/901  900/901  900/901  0/901    0/901
spoiled_begin_capture                  401/901  401/901  401/901  401/901  401/901  401/901
spoiled_is_capturing                   0/901    0/901    0/901    0/901    0/901    0/901
spoiled_get_capture_info               0/901    0/901    0/901    0/901    0/901    0/901
spoiled_get_last_error                 900/901  900/901  900/901  900/901  900/901  900/901
cublas_sgemm_own_workspace             0/0      0/0      0/0      0/0      0/0      0/0
cublas_sgemm_default_workspace         0/0      0/0      0/0      0/0      0/0      0/0
cublas_set_stream                      0/0      0/0      0/0      0/0      0/0      0/0
cublas_create                          1/901    1/901    1/901    1/901    0/0      0/0
cublas_destroy                         0/901    0/901    0/901    0/901    0/901    0/901
]]

local modes <const> = { "global", "global", "thread_local", "thread_local", "relaxed", "relaxed" }

-- A list of {key =, ["global blocking"] = "906/901", ...}.
local list = {}
for line in measured:gmatch "[^\n]+" do
    local row, column = { key = line:match "^%S+" }, 0
    for cell in line:gmatch " (%-?%d+/%-?%d+)" do
        column = column + 1
        row[modes[column] .. (column % 2 == 1 and " blocking" or " nonblocking")] = cell
    end
    assert(column == 6)
    list[#list + 1] = row
end
return list
