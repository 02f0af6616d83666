-- Functions as values: counters, composition, memory of results, variable arguments, coroutines.
local function counter()
	local n = 0
	return function(by)
		n = n + (by or 1)
		return n
	end
end
local a, b = counter(), counter()
for i = 1, 200000 do
	a()
	if i % 2 == 0 then
		b(i)
	end
end
print(a(0), b(0))

local function map(f, list)
	local out = {}
	for i, v in ipairs(list) do
		out[i] = f(v)
	end
	return out
end
local function fold(f, start, list)
	for _, v in ipairs(list) do
		start = f(start, v)
	end
	return start
end
local function compose(...)
	local functions = {...}
	return function(x)
		for _, f in ipairs(functions) do
			x = f(x)
		end
		return x
	end
end
local list = {}
for i = 1, 1000 do
	list[i] = i
end
local step = compose(function(x) return x + 1 end, function(x) return x * 2 end, function(x) return x % 1000 end)
local total = 0
for _ = 1, 30 do
	total = total + fold(function(x, y) return x + y end, 0, map(step, list))
end
print(total)

local function remember(f)
	local known = {}
	return function(n)
		local v = known[n]
		if v == nil then
			v = f(n)
			known[n] = v
		end
		return v
	end
end
local ways
ways = remember(function(n)
	if n < 3 then
		return n
	end
	return (ways(n - 1) + ways(n - 2) + ways(n - 3)) % 1000007
end)
print(ways(150))

local function fib(n)
	if n < 2 then
		return n
	end
	return fib(n - 1) + fib(n - 2)
end
print(fib(24))

local function sum(...)
	local s = 0
	for i = 1, select("#", ...) do
		s = s + (select(i, ...))
	end
	return s
end
local sums = 0
for i = 1, 5000 do
	sums = sums + sum(i, 2, 3, i, 5) + math.max(i, 7, 9)
end
print(sums)

-- A pipeline of coroutines: numbers, filtered, in pairs.
local function numbers(n)
	return coroutine.wrap(function()
		for i = 1, n do
			coroutine.yield(i)
		end
	end)
end
local function only(keep, source)
	return coroutine.wrap(function()
		for v in source do
			if keep(v) then
				coroutine.yield(v)
			end
		end
	end)
end
local kept = 0
for v in only(function(x) return x % 3 ~= 0 end, numbers(40000)) do
	kept = kept + v
end
print(kept)

local tail
tail = function(n, acc)
	if n == 0 then
		return acc
	end
	return tail(n - 1, acc + n)
end
print(tail(200000, 0))
