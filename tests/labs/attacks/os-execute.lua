-- Starts a command that leaves a file.
-- held: there is no 'os' in a lab
os.execute("touch left-behind /tmp/left-behind-by-an-attack $HOME/left-behind")
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
