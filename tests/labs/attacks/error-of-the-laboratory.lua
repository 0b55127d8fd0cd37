-- An error of the laboratory with other fields: functions, itself, five megabytes.
-- held: error: xxxxxxxxxxxxxxxxxx
function answer()
    local _, err = pcall(lab.matmul)
    err.where, err.op, err.code = err, print, { err }
    err.message = ("x"):rep(5000000)
    err[err] = err
    error(err)
end

function work() end
