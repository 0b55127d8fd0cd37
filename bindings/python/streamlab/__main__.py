"""python -m streamlab script.lua: the program, in this process."""

import os
import sys

from . import program

path = program()
os.execv(path, [path, *sys.argv[1:]])
