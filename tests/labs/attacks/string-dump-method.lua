-- The same through the methods of strings, which the test shares.
-- held: attempt to call a nil value
error(#("").dump(function() return 1 end))
