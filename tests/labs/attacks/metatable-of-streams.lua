-- Calls the finalizer of the stream that the test uses.
-- held: attempt to call a nil value
getmetatable(lab.current_stream()).__gc(lab.current_stream())
