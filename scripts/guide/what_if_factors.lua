-- How much does a faster product gain, before and after the copies are mended?
local tl = lab.load("build/what_if.json.gz")
print("products   as recorded   pinned, prefetched")
for _, factor in ipairs{ 1, 0.8, 0.6, 0.4, 0.2 } do
    local w = lab.whatif(tl):scale("matmul*", factor)
    local as_recorded = w:predict().after_us
    w:pin("*HtoD*"):non_blocking("*HtoD*"):prefetch("*HtoD*", 1)
    print(("%7.1f x %10.1f ms %17.1f ms"):format(factor, as_recorded / 1000,
        w:predict().after_us / 1000))
end
