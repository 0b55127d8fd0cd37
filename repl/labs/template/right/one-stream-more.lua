-- A right solution that is built otherwise: `streamlab lab pack` refuses if it does not get all
-- points. Tests ask for what the README says, not for one way to do it.
--
-- Here the product stays in the current stream, and an event brings the copy back to it.

function step(weights, batch)
    local copies = lab.stream{ non_blocking = true }
    local on_gpu = batch:to("cuda", { non_blocking = true, stream = copies })
    local copied = copies:record_event()
    local product = lab.matmul(weights, weights)
    lab.current_stream():wait_event(copied)
    return product, on_gpu
end
