"""streamlab in notebooks: a kernel for Jupyter, and the cell magic %%streamlab for Python's."""


def load_ipython_extension(shell):
    """%load_ext streamlab_kernel"""
    from .magic import StreamlabMagics

    shell.register_magics(StreamlabMagics)
