a, b = lab.stream{ name = "a" }, lab.stream{ name = "b" }

-- both(f): runs f(stream) in each of the two streams, and gives the timeline.
function both(f)
    return lab.profile(function()
        lab.with(a, f, a)
        lab.with(b, f, b)
    end)
end
