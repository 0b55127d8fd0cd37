-- More values than the stack has room for.
-- held: too many results to unpack
print(table.unpack({}, 1, 1e8))
