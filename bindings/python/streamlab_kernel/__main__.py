"""python -m streamlab_kernel: the kernel, as Jupyter starts it."""

import sys

from . import server

# The program starts while Python reads Jupyter's modules.
program = server.Server()

# ipykernel brings a debugger and completion of Python, which is half of the time that a start
# takes; both are optional, and a notebook of Lua has its own completion.
sys.modules.update(debugpy=None, jedi=None)

from ipykernel.kernelapp import IPKernelApp  # noqa: E402

from .kernel import StreamlabKernel  # noqa: E402

StreamlabKernel.server = program
IPKernelApp.launch_instance(kernel_class=StreamlabKernel)
