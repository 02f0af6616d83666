-- Linked structures: a search tree, a trie, expressions as trees, a heap of tasks, lists out of results of calls.
math.randomseed(21)

local function insert(node, key)
	if not node then
		return {key = key, times = 1}
	end
	if key < node.key then
		node.left = insert(node.left, key)
	elseif key > node.key then
		node.right = insert(node.right, key)
	else
		node.times = node.times + 1
	end
	return node
end
local function walk(node, visit)
	if node then
		walk(node.left, visit)
		visit(node)
		walk(node.right, visit)
	end
end
local function depth(node)
	return node and 1 + math.max(depth(node.left), depth(node.right)) or 0
end
local root
for _ = 1, 12000 do
	root = insert(root, math.random(9000))
end
local keys, last, ordered = 0, 0, true
walk(root, function(node)
	keys = keys + 1
	ordered = ordered and node.key > last
	last = node.key
end)
print(keys, ordered, depth(root))

local trie, ends = {}, 0
for i = 1, 5000 do
	local at = trie
	local word = ("%o"):format(i * 37 % 8191)
	for c in word:gmatch(".") do
		at[c] = at[c] or {}
		at = at[c]
	end
	at["end"] = true
end
local function count(node)
	for k, v in pairs(node) do
		if k == "end" then
			ends = ends + 1
		else
			count(v)
		end
	end
end
count(trie)
print(ends)

-- Expressions: made at random, simplified, evaluated, printed.
local function made(level)
	if level == 0 or math.random() < 0.1 then
		return math.random() < 0.5 and {"number", math.random(9)} or {"name", "x"}
	end
	return {({"+", "-", "*"})[math.random(3)], made(level - 1), made(level - 1)}
end
local function simplified(e)
	local kind, a, b = table.unpack(e)
	if not b then
		return e
	end
	a, b = simplified(a), simplified(b)
	if a[1] == "number" and b[1] == "number" then
		return {"number", kind == "+" and a[2] + b[2] or kind == "-" and a[2] - b[2] or a[2] * b[2]}
	elseif kind == "*" and (a[2] == 0 or b[2] == 0) then
		return {"number", 0}
	end
	return {kind, a, b}
end
local function value(e, x)
	local kind = e[1]
	if kind == "number" then
		return e[2]
	elseif kind == "name" then
		return x
	end
	local a, b = value(e[2], x), value(e[3], x)
	if kind == "+" then
		return a + b
	elseif kind == "-" then
		return a - b
	end
	return a * b
end
local function printed(e)
	return e[3] and "(" .. printed(e[2]) .. e[1] .. printed(e[3]) .. ")" or tostring(e[2])
end
local same, letters = 0, 0
for _ = 1, 500 do
	local e = made(6)
	local s = simplified(e)
	if value(e, 3) == value(s, 3) then
		same = same + 1
	end
	letters = letters + #printed(s)
end
print(same, letters)

local heap = {}
local function push(task)
	local i = #heap + 1
	while i > 1 and heap[i // 2].due > task.due do
		heap[i] = heap[i // 2]
		i = i // 2
	end
	heap[i] = task
end
local function pop()
	local first, task, i, n = heap[1], table.remove(heap), 1, #heap
	while n > 0 do
		local c = 2 * i
		if c < n and heap[c + 1].due < heap[c].due then
			c = c + 1
		end
		if c > n or task.due <= heap[c].due then
			heap[i] = task
			break
		end
		heap[i] = heap[c]
		i = c
	end
	return first
end
local late, now = 0, 0
for i = 1, 15000 do
	push({due = now + math.random(100), id = i})
	if i % 2 == 0 then
		local task = pop()
		late = late + (task.due < now and 1 or 0)
		now = math.max(now, task.due)
	end
end
print(#heap, late, now)

local function pair(i)
	return i, i * 2
end
local function chain(n)
	return n > 0 and {n, chain(n - 1)} or {}
end
local sum = 0
for i = 1, 12000 do
	local list = {i, pair(i)}
	local more = {table.unpack(list)}
	sum = sum + #list + more[3] + #{pair(i)} + #chain(i % 6)
end
print(sum)
