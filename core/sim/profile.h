/* profile.h - the figures of a simulated GPU, read from settings.
 *
 * scripts/profiles/NAME.lua has one table with these keys (units in the names); the bindings
 * flatten it into sl_settings. Every number is required unless it is among the optional ones. An
 * unknown key, a missing one, a wrong type or a value out of range is an error that names the key.
 * scripts/profiles/textbook.lua has the source of each figure, docs/design/simulator.md its
 * meaning.
 */
#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include "../backend.h"

/* X(field, key, least, greatest) - plain numbers, kept as doubles */
#define SIM_PROFILE_NUMBERS(X)                                                                  \
    /* the chip */                                                                              \
    X(sm_count, "sm_count", 1, 4096)                                                            \
    X(max_threads_per_sm, "max_threads_per_sm", 32, 65536)                                      \
    X(max_blocks_per_sm, "max_blocks_per_sm", 1, 1024)                                          \
    X(registers_per_sm, "registers_per_sm", 1024, 1e7)                                          \
    X(shared_bytes_per_sm, "shared_bytes_per_sm", 1024, 1e8)                                    \
    X(shared_bytes_per_block, "shared_bytes_per_block", 1024, 1e8)                              \
    X(max_threads_per_block, "max_threads_per_block", 32, 65536)                                \
    X(memory_bytes, "memory_bytes", 1, 1e18) /* or infinite */                                  \
    X(async_engine_count, "async_engine_count", 0, 16)                                          \
    X(max_grids, "max_grids", 1, 65536)    /* resident at a time */                             \
    X(connections, "connections", 1, 1024) /* hardware channels */                              \
    X(copy_connections, "copy_connections", 1, 1024)                                            \
    X(launch_queue_depth, "launch_queue_depth", 1, 1e9)                                         \
    X(priority_least, "priority_least", -1000, 1000)                                            \
    X(priority_greatest, "priority_greatest", -1000, 1000)                                      \
    X(priority_levels, "priority_levels", 1, 1000) /* of the hardware */                        \
    /* arithmetic; tf32 and bf16 may equal fp32 where there are no such units */                \
    X(fp32_tflops, "fp32_tflops", 1e-3, 1e6)                                                    \
    X(tf32_tflops, "tf32_tflops", 1e-3, 1e6)                                                    \
    X(bf16_tflops, "bf16_tflops", 1e-3, 1e6) /* float16 the same */                             \
    X(gemm_efficiency_fp32, "gemm_efficiency.float32", 1e-3, 1)                                 \
    X(gemm_efficiency_tf32, "gemm_efficiency.tf32", 1e-3, 1)                                    \
    X(gemm_efficiency_bf16, "gemm_efficiency.bfloat16", 1e-3, 1)                                \
    X(gemm_fixed_us, "gemm_fixed_us", 0, 1e6)                                                   \
    X(gemm_persistent, "gemm_persistent", 0, 1) /* tensor-core GEMM: one block an SM */         \
    /* device memory */                                                                         \
    X(hbm_gb_per_s, "hbm_gb_per_s", 1e-3, 1e6) /* of a copy kernel, read + write */             \
    X(l2_bytes, "l2_bytes", 0, 1e12)                                                            \
    X(l2_gb_per_s, "l2_gb_per_s", 1e-3, 1e6)                                                    \
    X(kernel_fixed_us, "kernel_fixed_us", 0, 1e6) /* of an elementwise kernel */                \
    X(d2d_gb_per_s, "d2d_gb_per_s", 1e-3, 1e6)    /* bytes copied */                            \
    X(d2d_fixed_us, "d2d_fixed_us", 0, 1e6)                                                     \
    X(memset_gb_per_s, "memset_gb_per_s", 1e-3, 1e6)                                            \
    /* copies between host and device */                                                        \
    X(h2d_gb_per_s, "h2d_gb_per_s", 1e-3, 1e6)                                                  \
    X(d2h_gb_per_s, "d2h_gb_per_s", 1e-3, 1e6)                                                  \
    X(duplex_factor, "duplex_factor", 0.01, 1) /* of each direction while both run */           \
    X(copy_latency_us, "copy_latency_us", 0, 1e6)                                               \
    X(stage_bytes, "stage_bytes", 4096, 1e9) /* one staging buffer */                           \
    X(stage_buffers, "stage_buffers", 1, 1024)                                                  \
    X(h2d_async_bytes, "h2d_async_bytes", 0, 1e12) /* a pageable H2D that returns staged */     \
    X(host_gb_per_s, "host_gb_per_s", 1e-3, 1e6)   /* the host filling or copying its memory */ \
    /* latencies */                                                                             \
    X(submit_us, "submit_us", 0, 1e6)             /* call to visible on the device */           \
    X(stream_gap_us, "stream_gap_us", 0, 1e6)     /* between operations of a stream */          \
    X(cross_stream_us, "cross_stream_us", 0, 1e6) /* record in one, wait in another */          \
    X(record_us, "record_us", 0, 1e6)             /* a timed record, on the device */           \
    X(host_func_in_us, "host_func_in_us", 0, 1e6)                                               \
    X(host_func_out_us, "host_func_out_us", 0, 1e6)                                             \
    X(event_tick_ns, "event_tick_ns", 1e-3, 1e9)                                                \
    X(wake_us, "wake_us", 0, 1e6)           /* host notices completion */                       \
    X(lazy_load_us, "lazy_load_us", 0, 1e6) /* a kernel's first use; 0: off */                  \
    /* what each call costs the host */                                                         \
    X(host_launch_us, "host.launch_us", 0, 1e6)                                                 \
    X(host_matmul_us, "host.matmul_us", 0, 1e6)                                                 \
    X(host_memcpy_async_us, "host.memcpy_async_us", 0, 1e6)                                     \
    X(host_memset_us, "host.memset_us", 0, 1e6)                                                 \
    X(host_record_us, "host.record_us", 0, 1e6)                                                 \
    X(host_record_untimed_us, "host.record_untimed_us", 0, 1e6)                                 \
    X(host_wait_us, "host.wait_us", 0, 1e6)                                                     \
    X(host_query_us, "host.query_us", 0, 1e6)                                                   \
    X(host_synchronize_us, "host.synchronize_us", 0, 1e6)                                       \
    X(host_host_func_us, "host.host_func_us", 0, 1e6)                                           \
    X(host_stream_create_us, "host.stream_create_us", 0, 1e6)                                   \
    X(host_event_create_us, "host.event_create_us", 0, 1e6)                                     \
    X(host_tensor_alloc_us, "host.tensor_alloc_us", 0, 1e6) /* device tensor, from the pool */  \
    X(host_pinned_alloc_us, "host.pinned_alloc_us", 0, 1e6) /* pinned tensor, from the pool */

/* Products of one kind. (n, us): n x n x n, back to back. (n, ...): the kernel that computes it,
 * of its grid, its block, and how much of an SM's issue slots the blocks take that one SM holds
 * when it runs alone. */
#define SIM_GEMM_TABLES(X, mode, name)                                                  \
    X(gemm[mode].us, "gemm_us." name, true, 1e-9)                                       \
    X(gemm[mode].blocks, "gemm_blocks." name, true, 1e-9)                               \
    X(gemm[mode].threads, "gemm_threads." name, true, 1e-9)     /* of a block */        \
    X(gemm[mode].registers, "gemm_registers." name, true, 1e-9) /* of a thread */       \
    X(gemm[mode].shared_bytes, "gemm_shared_bytes." name, true, 0)                      \
    X(gemm[mode].share, "gemm_share." name, true, 1e-9)                                 \
    X(gemm[mode].warm, "gemm_warm." name, true, 1e-9) /* of the time, operands in L2 */ \
    X(gemm[mode].host, "gemm_host." name, true, 1e-9) /* a call's cost, over host.matmul_us */

/* Lists of {n, k, us}: an n x n product over k, for all n and k that occur; and of
 * {n, k, kernels}: more than one where the sums are split. All are optional. */
#define SIM_GEMM_GRIDS(X, mode, name)        \
    X(gemm[mode].grid, "gemm_grid_us." name) \
    X(gemm[mode].kernels, "gemm_kernels." name)

/* How long other kernels take alone: (elements of float32, us); memset and d2d (bytes, us). */
#define SIM_KERNEL_TABLES(X)                                                         \
    X(kernel_us_add, "kernel_us.add", true, 1e-9)   /* sub, mul and div as well */   \
    X(kernel_us_pow, "kernel_us.pow", true, 1e-9)   /* small whole exponents, 0.5 */ \
    X(kernel_us_powf, "kernel_us.powf", true, 1e-9) /* others */                     \
    X(kernel_us_softmax, "kernel_us.softmax", true, 1e-9)                            \
    X(kernel_us_sum, "kernel_us.sum", true, 1e-9) /* of so many elements */          \
    X(kernel_us_fill, "kernel_us.fill", true, 1e-9)                                  \
    X(kernel_us_rand, "kernel_us.rand", true, 1e-9)                                  \
    X(kernel_us_randn, "kernel_us.randn", true, 1e-9)                                \
    X(kernel_us_memset, "kernel_us.memset", true, 1e-9)                              \
    X(kernel_us_d2d, "kernel_us.d2d", true, 1e-9)

/* Between two GPUs of a machine. Optional. A copy with access from one to the other: */
#define SIM_PEER_NUMBERS(X)                                                                   \
    X(peer_gb_per_s, "peer.gb_per_s", 0, 1e6, 0) /* 0: none has access to another */          \
    X(peer_latency_us, "peer.latency_us", 0, 1e6, p->copy_latency_us)                         \
    X(peer_pull_us, "peer.pull_us", 0, 1e6, 0) /* at least, in a stream of the destination */ \
    X(peer_pull_latency_us, "peer.pull_latency_us", 0, 1e6, p->peer_latency_us) /* there */   \
    /* without, through the host's memory: */                                                 \
    X(peer_host_gb_per_s, "peer.host_gb_per_s", 1e-3, 1e6, p->h2d_gb_per_s * 0.62)            \
    X(peer_host_latency_us, "peer.host_latency_us", 0, 1e6, p->copy_latency_us + 11)          \
    X(peer_host_piece_bytes, "peer.host_piece_bytes", 1, 1e15, 262144)                        \
    X(peer_host_duplex_factor, "peer.host_duplex_factor", 0.01, 1, p->duplex_factor)          \
    X(peer_host_call_us_per_mib, "peer.host_call_us_per_mib", 0, 1e6, 0) /* of the host */    \
    X(peer_event_us, "peer.event_us", 0, 1e6, 3.5) /* on top of cross_stream_us */

/* Collectives (comm_cost.c). Optional; what holds otherwise is estimated from NVLink's figures.
 * What a block of a collective's kernel passes through in the protocols SIMPLE and LL, and what a
 * GPU sends over its link with all of them: */
#define SIM_COMM_NUMBERS(X)                                                                    \
    X(comm_channels, "comm.channels", 1, 64, 24) /* blocks, at most */                         \
    X(comm_channel_gb_per_s, "comm.channel_gb_per_s", 1e-3, 1e6, p->hbm_gb_per_s * 0.0073)     \
    X(comm_link_gb_per_s, "comm.link_gb_per_s", 1e-3, 1e6, comm_link(p))                       \
    X(comm_ll_channel_gb_per_s, "comm.ll_channel_gb_per_s", 1e-3, 1e6,                         \
      p->comm_channel_gb_per_s * 0.35)                                                         \
    X(comm_ll_link_gb_per_s, "comm.ll_link_gb_per_s", 1e-3, 1e6, p->comm_link_gb_per_s * 0.68) \
    /* until the first byte, and for each step from one GPU to the next: */                    \
    X(comm_base_us, "comm.base_us", 0, 1e6, 10.8)                                              \
    X(comm_step_us, "comm.step_us", 0, 1e6, p->peer_gb_per_s > 0 ? 3.6 : 5.7)                  \
    X(comm_ll_base_us, "comm.ll_base_us", 0, 1e6, 3.7)                                         \
    X(comm_ll_step_us, "comm.ll_step_us", 0, 1e6, p->peer_gb_per_s > 0 ? 0.9 : 1.5)            \
    X(comm_ll128_base_us, "comm.ll128_base_us", 0, 1e6, 14)                                    \
    X(comm_ll128_step_us, "comm.ll128_step_us", 0, 1e6, p->peer_gb_per_s > 0 ? 1.9 : 2.5)      \
    /* from node to node, each with so many GPUs: what a node sends, and steps */              \
    X(comm_gpus_per_node, "comm.gpus_per_node", 1, 65536, 65536)                               \
    X(comm_net_gb_per_s, "comm.net_gb_per_s", 1e-3, 1e6, 400)                                  \
    X(comm_net_step_us, "comm.net_step_us", 0, 1e6, 14)                                        \
    X(comm_ll_net_step_us, "comm.ll_net_step_us", 0, 1e6, 2.7)                                 \
    X(comm_ll128_net_step_us, "comm.ll128_net_step_us", 0, 1e6, 4)                             \
    X(comm_cluster, "comm.cluster", 1, 16, 1) /* blocks that come to one GPC together */       \
    X(comm_gpcs, "comm.gpcs", 1, 64, 1)                                                        \
    X(comm_tensor_slowdown, "comm.tensor_slowdown", 0, 100, 0) /* of products beside one */    \
    /* how much longer one takes beside kernels that take all of the memory's bandwidth */     \
    X(comm_memory_slowdown, "comm.memory_slowdown", 0, 100, 0.83)                              \
    X(comm_host_us, "comm.host_us", 0, 1e6, p->host_launch_us * 2.85) /* a call, for each rank */

/* (bytes, us) between two GPUs, one after the other in a stream. Optional. */
#define SIM_COMM_TABLES(X)                                                   \
    X(comm_us[SL_ALL_REDUCE], "comm_us.all_reduce", true, 1e-9)              \
    X(comm_us[SL_ALL_GATHER], "comm_us.all_gather", true, 1e-9) /* of all */ \
    X(comm_us[SL_REDUCE_SCATTER], "comm_us.reduce_scatter", true, 1e-9)      \
    X(comm_us[SL_BROADCAST], "comm_us.broadcast", true, 1e-9)

/* Graphs. Optional, as the numbers below. On the device, from one node to the next: */
#define SIM_GRAPH_NUMBERS(X)                                                                       \
    X(graph_gap_us, "graph.gap_us", 0, 1e6, p->stream_gap_us)                                      \
    X(graph_switch_us, "graph.switch_us", 0, 1e6, p->engine_switch_us) /* to another engine */     \
    X(graph_fork_us, "graph.fork_us", 0, 1e6, 0) /* each further node behind a node */             \
    X(graph_join_us, "graph.join_us", 0, 1e6, 0) /* behind several nodes */                        \
    X(graph_cross_us, "graph.cross_us", 0, 1e6, p->graph_fork_us) /* a fork to a join */           \
    X(graph_root_us, "graph.root_us", 0, 1e6, 0)                  /* each further first node */    \
    X(graph_launch_gap_us, "graph.launch_gap_us", 0, 1e6, p->stream_gap_us) /* launch to launch */ \
    /* what it costs the host: a capture and each call in it, ... */                               \
    X(host_graph_begin_us, "host_graph.begin_us", 0, 1e6, 0)                                       \
    X(host_graph_end_us, "host_graph.end_us", 0, 1e6, 0)                                           \
    X(host_graph_capture_kernel_us, "host_graph.capture_kernel_us", 0, 1e6, 0)                     \
    X(host_graph_capture_copy_us, "host_graph.capture_copy_us", 0, 1e6, 0)                         \
    X(host_graph_capture_memset_us, "host_graph.capture_memset_us", 0, 1e6, 0)                     \
    X(host_graph_capture_host_func_us, "host_graph.capture_host_func_us", 0, 1e6, 0)               \
    X(host_graph_capture_event_us, "host_graph.capture_event_us", 0, 1e6, 0)                       \
    /* ..., instantiating it: each node that is no kernel, each edge but a node's first, ... */    \
    X(host_graph_instantiate_other_us, "host_graph.instantiate_other_us", 0, 1e6, 0)               \
    X(host_graph_instantiate_edge_us, "host_graph.instantiate_edge_us", 0, 1e6, 0)                 \
    /* ..., its first launch, each kernel, and every launch: each branch but one, each node */     \
    X(host_graph_upload_us, "host_graph.upload_us", 0, 1e6, 0)                                     \
    X(host_graph_branch_us, "host_graph.branch_us", 0, 1e6, 0)                                     \
    X(host_graph_cross_node_us, "host_graph.cross_node_us", 0, 1e6, 0) /* at a fork or join */     \
    X(host_graph_copy_us, "host_graph.copy_us", 0, 1e6, 0)                                         \
    X(host_graph_memset_us, "host_graph.memset_us", 0, 1e6, 0)                                     \
    X(host_graph_host_func_us, "host_graph.host_func_us", 0, 1e6, 0)                               \
    X(host_graph_submit_us, "host_graph.submit_us", 0, 1e6, p->submit_us) /* to the device */

/* (kernels of the graph, us), of a launch and of instantiating; (nodes, us) */
#define SIM_GRAPH_TABLES(X)                                            \
    X(host_graph_launch_us, "host_graph.launch_us", true, 0)           \
    X(host_graph_instantiate_us, "host_graph.instantiate_us", true, 0) \
    X(host_graph_update_us, "host_graph.update_us", true, 0)

/* How long a thread of a custom kernel takes until it goes on (custom_cost.c). Optional. */
#define SIM_THREAD_NUMBERS(X)                                                                    \
    /* an operation: an eighth of the threads reaches the full rate */                           \
    X(thread_operation_ns, "thread.operation_ns", 0, 1e6,                                        \
      p->sm_count * p->max_threads_per_sm / 8 / (p->fp32_tflops * 1e3))                          \
    X(thread_shared_ns, "thread.shared_ns", 0, 1e6, 0) /* a read of shared memory */             \
    X(thread_l1_ns, "thread.l1_ns", 0, 1e6, 0)         /* a read that its SM's cache has, ... */ \
    X(thread_l2_ns, "thread.l2_ns", 0, 1e6, p->thread_l1_ns)                                     \
    X(thread_memory_ns, "thread.memory_ns", 0, 1e6, p->thread_l2_ns)                             \
    X(block_start_ns, "block_start_ns", 0, 1e6, 0) /* of the chip: from block to block */

/* Numbers that may be missing, and what holds then, of the profile p.
 * X(field, key, least, greatest, otherwise) */
#define SIM_PROFILE_OPTIONAL(X)                                                                    \
    X(fp64_tflops, "fp64_tflops", 1e-3, 1e6, p->fp32_tflops *fp64_share(p)) /* of products */      \
    SIM_THREAD_NUMBERS(X)                                                                          \
    X(copy_gap_us, "copy_gap_us", 0, 1e6, p->stream_gap_us) /* copy to copy in a stream */         \
    X(engine_switch_us, "engine_switch_us", 0, 1e6, p->stream_gap_us) /* copy to kernel, back */   \
    X(engine_turn_us, "engine_turn_us", 0, 1e6, 0)               /* to another channel's copy */   \
    X(shared_reserved_bytes, "shared_reserved_bytes", 0, 1e6, 0) /* CUDA's own, per block */       \
    X(spin_fixed_us, "spin_fixed_us", 0, 1e6, 0)                 /* on top of what was asked */    \
    X(host_cache_bytes, "host_cache_bytes", 0, 1e15, 0)          /* of the host's processor */     \
    /* page-locked memory that the host has just written: its speed, and how much there can be */  \
    X(h2d_written_gb_per_s, "h2d_written_gb_per_s", 1e-3, 1e6, p->h2d_gb_per_s)                    \
    X(host_written_bytes, "host_written_bytes", 0, 1e15, 0)                                        \
    /* on top of `host`, when a call of its kind comes after so much other work of the host */     \
    /* chance, in a draw of a range: how much each call differs from the next, and how often an */ \
    /* engine goes to another channel than the next */                                             \
    X(chance_seed, "chance.seed", 0, 1e9, 0) /* 0: none */                                         \
    X(chance_calls, "chance.calls", 0, 1, 0)                                                       \
    X(chance_order, "chance.order", 0, 1, 0)                                                       \
    X(values_kept, "values.kept", 0, 1, 0) /* in a draw: results, for the next (value_memory.h) */ \
    /* a call, for each other thread of the host that is in one */                                 \
    X(thread_contention_us, "thread_contention_us", 0, 1e6, p->host_launch_us * 0.2)               \
    X(host_cold_first, "host_cold.first", 0, 1, 1) /* part of it in a recording's first call */    \
    X(host_cold_bytes, "host_cold.bytes", 0, 1e15, 0)                                              \
    X(host_cold_launch_us, "host_cold.launch_us", 0, 1e6, 0)                                       \
    X(host_cold_matmul_us, "host_cold.matmul_us", 0, 1e6, 0)                                       \
    X(host_cold_memcpy_async_us, "host_cold.memcpy_async_us", 0, 1e6, 0)                           \
    /* cudaMallocAsync's pool grows by multiples of it */                                          \
    X(host_pool_chunk_bytes, "host_pool.chunk_bytes", 1, 1e15, 33554432)                           \
    SIM_PEER_NUMBERS(X)                                                                            \
    SIM_COMM_NUMBERS(X)                                                                            \
    SIM_GRAPH_NUMBERS(X)

/* Tables of (x, y) pairs with ascending x, interpolated linearly, flat beyond
 * the ends; y is at least `least`. X(field, key, optional, least) */
#define SIM_PROFILE_TABLES(X)                                                            \
    SIM_KERNEL_TABLES(X)                                                                 \
    SIM_GRAPH_TABLES(X)                                                                  \
    /* (which, bytes): of what an SM can take for shared memory, the rest being cache */ \
    X(shared_splits, "shared_splits", true, 0)                                           \
    X(copy_us_h2d, "copy_us.h2d", true, 1e-9) /* (bytes, us) of one pinned copy alone */ \
    X(copy_us_d2h, "copy_us.d2h", true, 1e-9)                                            \
    /* (bytes, GB/s) of the host; cold: from memory, not from its caches */              \
    X(h2d_staging_gb_per_s, "h2d_staging_gb_per_s", false, 1e-9)                         \
    X(d2h_staging_gb_per_s, "d2h_staging_gb_per_s", false, 1e-9)                         \
    X(h2d_staging_cold_gb_per_s, "h2d_staging_cold_gb_per_s", true, 1e-9)                \
    X(d2h_staging_cold_gb_per_s, "d2h_staging_cold_gb_per_s", true, 1e-9)                \
    /* (bytes, us) that cudaMallocAsync's pool takes from the system, and gives back */  \
    X(host_pool_grow_us, "host_pool.grow_us", true, 0)                                   \
    X(host_pool_trim_us, "host_pool.trim_us", true, 0)

/* memory_bytes may also be the text "unlimited".
 * And: name (text), compute_capability ({major, minor}), d2d_engine (text "sm" or
 * "copy"), note (text, optional, ignored), profile (text, optional: the short name
 * under which it was asked for, cut to 63 characters), and for each call of
 * sim_call_names, calls.NAME = {us =, us_per_mib =, waits =, serialises =, from_bytes =},
 * all optional:
 *   us, us_per_mib  what it costs the host: of a plain call all (us: 1), of the others
 *                   what comes on top of `host` (0)
 *   waits           whether the host first waits: false, true or "device" (for all work),
 *                   "stream" (for that of its stream; without one, of the blocking streams)
 *   serialises      whether work that comes after the call waits on the device for work of
 *                   other streams from before: false, true or "device" (all streams),
 *                   "blocking" (those that are not exempt from the NULL stream's rules)
 *   from_bytes      `waits` and `serialises` hold for calls of at least so many bytes (0) */

typedef struct sim_table {
    size_t n;
    double *x, *y;
} sim_table;

/* z at all pairs of x and y, both ascending; z[i * n_y + j]. */
typedef struct sim_grid {
    size_t n_x, n_y;
    double *x, *y, *z;
} sim_grid;

/* No profile has tables of products in float64. */
typedef enum sim_gemm_mode {
    SIM_GEMM_FP32,
    SIM_GEMM_TF32,
    SIM_GEMM_BF16,
    SIM_GEMM_FP64,
    SIM_GEMM_MODES
} sim_gemm_mode;

typedef struct sim_gemm {
    sim_table us, blocks, threads, registers, shared_bytes, share, warm, host;
    sim_grid grid, kernels;
} sim_gemm;

/* Plain calls have their numbers. Order as in sim_call_names; of the two rows of copies the
 * second is cudaMemcpy's, in the same order. */
typedef enum sim_call {
    SIM_CALL_LAUNCH = SL_PLAIN_CALLS,
    SIM_CALL_MEMSET,
    SIM_CALL_MEMSET_ASYNC,
    SIM_CALL_COPY_D2D,
    SIM_CALL_COPY_H2D_PAGEABLE,
    SIM_CALL_COPY_H2D_PINNED,
    SIM_CALL_COPY_D2H_PAGEABLE,
    SIM_CALL_COPY_D2H_PINNED,
    SIM_CALL_SYNC_COPY_D2D,
    SIM_CALL_SYNC_COPY_H2D_PAGEABLE,
    SIM_CALL_SYNC_COPY_H2D_PINNED,
    SIM_CALL_SYNC_COPY_D2H_PAGEABLE,
    SIM_CALL_SYNC_COPY_D2H_PINNED,
    SIM_CALL_EVENT_RECORD,
    SIM_CALL_EVENT_WAIT,
    SIM_CALL_HOST_FUNC,
    SIM_CALL_STREAM_CREATE,
    SIM_CALL_EVENT_CREATE,
    SIM_CALL_MEM_GET_INFO,
    SIM_CALL_FREE_ORDERED, /* cudaFree of memory of cudaMallocAsync */
    SIM_CALLS
} sim_call;

typedef enum sim_reach { SIM_NOTHING, SIM_DEVICE, SIM_STREAM, SIM_BLOCKING } sim_reach;

typedef struct sim_call_cost {
    double us, us_per_mib, from_bytes;
    sim_reach waits, serialises;
} sim_call_cost;

typedef struct sim_profile {
    char name[96], profile[64];
    int compute_capability_major, compute_capability_minor;
    bool d2d_on_sm;
#define X(field, key, least, greatest) double field;
    SIM_PROFILE_NUMBERS(X)
#undef X
#define X(field, key, least, greatest, otherwise) double field;
    SIM_PROFILE_OPTIONAL(X)
#undef X
#define X(field, key, optional, least) sim_table field;
    SIM_PROFILE_TABLES(X)
#undef X
    sim_gemm gemm[SIM_GEMM_MODES];
    sim_table comm_us[SL_COLLECTIVES];
    sim_call_cost calls[SIM_CALLS];
} sim_profile;

/* Reads settings into *profile (zeroed first). On failure nothing is left to free. */
sl_status sim_profile_read(sim_profile *profile, const sl_setting *settings, size_t n_settings,
                           sl_error *err);
void sim_profile_free(sim_profile *profile);

/* The name of a call in a profile: "cudaFree", "cudaMemcpy.d2d". */
const char *sim_call_name(sim_call call);

/* y at x; 0 for an empty table. */
double sim_table_at(const sim_table *table, double x);
/* The same of a duration by amount: beyond the end it grows as between the last two. */
double sim_table_us(const sim_table *table, double amount);
/* A duration that grows with x * x and with y; 0 for an empty grid. `area` is x * x. */
double sim_grid_us(const sim_grid *grid, double area, double y);
/* The row whose x is the nearest, by ratio; 0 for an empty table. */
size_t sim_table_nearest(const sim_table *table, double x);

/* z at the point that is the nearest, by ratio; 0 for an empty grid. */
double sim_grid_nearest(const sim_grid *grid, double area, double y);

#endif
