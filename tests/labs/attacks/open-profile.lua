-- Opens a device whose profile is the hidden test: the message quotes what it is not.
-- held: a submission does not have it
lab.open { backend = "sim", profile = "tests/hidden.lua" }
