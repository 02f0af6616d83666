-- All ways to place eight queens, by trying and going back.
local n, solutions, tried = 8, 0, 0
local columns, up, down = {}, {}, {}
local function place(row)
	if row > n then
		solutions = solutions + 1
		return
	end
	for c = 1, n do
		tried = tried + 1
		if not (columns[c] or up[row + c] or down[row - c + n]) then
			columns[c], up[row + c], down[row - c + n] = true, true, true
			place(row + 1)
			columns[c], up[row + c], down[row - c + n] = false, false, false
		end
	end
end
for _ = 1, 150 do
	place(1)
end
print(solutions, tried)
