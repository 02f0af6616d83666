-- Sorting by table.sort with and without a function, and by sorts written in Lua.
math.randomseed(5)

local function made(n, make)
	local t = {}
	for i = 1, n do
		t[i] = make(i)
	end
	return t
end
local function is_sorted(t, before)
	for i = 2, #t do
		if before(t[i], t[i - 1]) then
			return false
		end
	end
	return true
end
local function less(x, y)
	return x < y
end

local numbers = made(15000, function() return math.random(1000000) end)
local plain = table.move(numbers, 1, #numbers, 1, {})
table.sort(plain)
print(is_sorted(plain, less), plain[1], plain[#plain])

local down = table.move(numbers, 1, #numbers, 1, {})
table.sort(down, function(x, y) return x > y end)
print(down[1] == plain[#plain], down[#down] == plain[1])

local words = made(8000, function() return ("%04x"):format(math.random(0xffff)) .. "word" end)
table.sort(words)
print(is_sorted(words, less), words[1], words[#words])

local people = made(6000, function(i) return {name = "p" .. math.random(500), age = math.random(90), id = i} end)
table.sort(people, function(x, y)
	if x.age ~= y.age then
		return x.age < y.age
	end
	if x.name ~= y.name then
		return x.name < y.name
	end
	return x.id < y.id
end)
print(people[1].age, people[1].name, people[#people].age, people[#people].name)

local function merge_sort(t, first, last, room)
	if last - first < 1 then
		return
	end
	local middle = (first + last) // 2
	merge_sort(t, first, middle, room)
	merge_sort(t, middle + 1, last, room)
	table.move(t, first, middle, first, room)
	local i, j, k = first, middle + 1, first
	while i <= middle do
		if j <= last and t[j] < room[i] then
			t[k] = t[j]
			j = j + 1
		else
			t[k] = room[i]
			i = i + 1
		end
		k = k + 1
	end
end
local merged = table.move(numbers, 1, #numbers, 1, {})
merge_sort(merged, 1, #merged, {})
print(is_sorted(merged, less), merged[777] == plain[777])

local function sift(heap, i, n)
	local v = heap[i]
	while 2 * i <= n do
		local c = 2 * i
		if c < n and heap[c + 1] > heap[c] then
			c = c + 1
		end
		if heap[c] <= v then
			break
		end
		heap[i] = heap[c]
		i = c
	end
	heap[i] = v
end
local heap = table.move(numbers, 1, #numbers, 1, {})
for i = #heap // 2, 1, -1 do
	sift(heap, i, #heap)
end
for n = #heap, 2, -1 do
	heap[1], heap[n] = heap[n], heap[1]
	sift(heap, 1, n - 1)
end
print(is_sorted(heap, less), heap[4321] == plain[4321])
