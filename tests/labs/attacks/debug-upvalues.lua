-- Reads the variables of the test that calls it.
-- held: there is no 'debug' in a lab
function answer()
    for level = 1, 10 do
        print(debug.getlocal(level, 1))
    end
end

function work() end
