-- Jumps out of its function into the test.
-- held: no visible label 'continue'
function answer()
    goto continue
end
