-- A message of five megabytes, which begins as the results of another submission.
-- held: error: ok 1 - 1.1
error("ok 1 - 1.1\n" .. ("x"):rep(5000000), 0)
