return { find = function() end }
