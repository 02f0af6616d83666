-- Tables as arrays, as maps, as queues and as sets.
math.randomseed(11)

local function sieve(n)
	local composite, primes = {}, {}
	for i = 2, n do
		if not composite[i] then
			primes[#primes + 1] = i
			for j = i * i, n, i do
				composite[j] = true
			end
		end
	end
	return primes
end
print(#sieve(300000))

local function multiply(a, b, n)
	local c = {}
	for i = 1, n do
		local row, from = {}, a[i]
		for j = 1, n do
			local sum = 0
			for k = 1, n do
				sum = sum + from[k] * b[k][j]
			end
			row[j] = sum
		end
		c[i] = row
	end
	return c
end
local n = 60
local m = {}
for i = 1, n do
	m[i] = {}
	for j = 1, n do
		m[i][j] = (i * j) % 7 - 3
	end
end
local square = multiply(m, m, n)
print(square[1][1], square[n][n], square[7][31])

-- A map with keys of several kinds, grown, read and emptied.
local map, hits = {}, 0
for i = 1, 40000 do
	map["key" .. i % 5000] = i
	map[i * 3] = i
	map[i + 0.5] = true
end
for i = 1, 40000 do
	if map["key" .. i] then hits = hits + 1 end
	if map[i] then hits = hits + 1 end
	if map[i + 0.5] then hits = hits + 1 end
end
local count = 0
for k in pairs(map) do
	count = count + 1
	map[k] = nil
end
print(hits, count, next(map))

-- A queue by insert and remove, and slices by move and unpack.
local queue, served = {}, 0
for i = 1, 20000 do
	table.insert(queue, i)
	if i % 3 == 0 then
		served = served + table.remove(queue, 1)
	end
	if #queue > 50 then
		queue = table.move(queue, 26, #queue, 1, {})
	end
end
print(served, #queue, select("#", table.unpack(queue)))

local sets = {}
for i = 1, 3000 do
	local set = {}
	for _ = 1, 8 do
		set[math.random(60)] = true
	end
	sets[i] = set
end
local common = 0
for i = 2, #sets do
	for k in pairs(sets[i]) do
		if sets[i - 1][k] then
			common = common + 1
		end
	end
end
print(common)
