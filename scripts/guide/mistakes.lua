local t = lab.zeros(2, 2)
print(pcall(function() t.to("cpu") end))             -- pcall is try: false and the error, or true
print(pcall(function() lab.stream{ prio = -1 } end))
print(pcall(function() return t:get(0, 1) end))
print(pcall(function() return t.shape end))
