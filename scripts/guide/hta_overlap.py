from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: "build/blocking.json.gz"}, trace_dir="")
print(trace.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=True)[0])
