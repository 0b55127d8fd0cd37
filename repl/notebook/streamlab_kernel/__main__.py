"""python -m streamlab_kernel: the kernel, as Jupyter starts it."""

from ipykernel.kernelapp import IPKernelApp

from .kernel import StreamlabKernel

IPKernelApp.launch_instance(kernel_class=StreamlabKernel)
