-- Names a chunk like the hidden test, so that the message of its error quotes that line.
-- held: (load):2: I am line 2 of the test
load("\nerror('I am line 2 of the test')", "@tests/hidden.lua")()
