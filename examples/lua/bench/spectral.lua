-- The spectral norm of the matrix with 1 / ((i + j) (i + j + 1) / 2 + i + 1) in row i and column j.
local function element(i, j)
	local ij = i + j - 1
	return 1 / (ij * (ij - 1) * 0.5 + i)
end
local function times(x, n, transposed)
	local y = {}
	for i = 1, n do
		local sum = 0
		for j = 1, n do
			sum = sum + x[j] * (transposed and element(j, i) or element(i, j))
		end
		y[i] = sum
	end
	return y
end

local n = 200
local u, v = {}, nil
for i = 1, n do
	u[i] = 1
end
for _ = 1, 10 do
	v = times(times(u, n), n, true)
	u = times(times(v, n), n, true)
end
local uv, vv = 0, 0
for i = 1, n do
	uv = uv + u[i] * v[i]
	vv = vv + v[i] * v[i]
end
print(("%.9f"):format(math.sqrt(uv / vv)))
