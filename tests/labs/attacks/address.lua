-- Asks for the address of an object.
-- held: a lab has no addresses
error(("%%%p"):format({}))
