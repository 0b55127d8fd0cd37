-- Reads the environment, and through rawget what the table of globals hides.
-- held: attempt to index a nil value
error(rawget(_G, "os").getenv("HOME"))
