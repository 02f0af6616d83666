-- Searching and games: cells that live and die, ways through a maze, the fullest bag, sums of coins, a number puzzle.
math.randomseed(8)

local function life(width, height, generations)
	local cells = {}
	for i = 0, width * height - 1 do
		cells[i] = math.random() < 0.3
	end
	local alive = 0
	for _ = 1, generations do
		local next = {}
		alive = 0
		for y = 0, height - 1 do
			local above, here, below = (y - 1) % height * width, y * width, (y + 1) % height * width
			for x = 0, width - 1 do
				local left, right, n = (x - 1) % width, (x + 1) % width, 0
				if cells[above + left] then n = n + 1 end
				if cells[above + x] then n = n + 1 end
				if cells[above + right] then n = n + 1 end
				if cells[here + left] then n = n + 1 end
				if cells[here + right] then n = n + 1 end
				if cells[below + left] then n = n + 1 end
				if cells[below + x] then n = n + 1 end
				if cells[below + right] then n = n + 1 end
				local lives = n == 3 or n == 2 and cells[here + x]
				next[here + x] = lives
				if lives then
					alive = alive + 1
				end
			end
		end
		cells = next
	end
	return alive
end
print(life(48, 40, 20))

-- A maze as lines of text, searched by breadth.
local maze = {}
for y = 1, 60 do
	local line = {}
	for x = 1, 80 do
		line[x] = (math.random() < 0.28 and not (x < 3 and y < 3)) and "#" or "."
	end
	maze[y] = table.concat(line)
end
local function distances(maze)
	local height, width = #maze, #maze[1]
	local known, queue, first = {["1,1"] = 0}, {{1, 1}}, 1
	local far, reached = 0, 0
	while queue[first] do
		local x, y = table.unpack(queue[first])
		local d = known[x .. "," .. y]
		first = first + 1
		reached = reached + 1
		far = math.max(far, d)
		for _, step in ipairs({{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) do
			local nx, ny = x + step[1], y + step[2]
			if nx >= 1 and nx <= width and ny >= 1 and ny <= height and maze[ny]:sub(nx, nx) == "." then
				local key = nx .. "," .. ny
				if not known[key] then
					known[key] = d + 1
					queue[#queue + 1] = {nx, ny}
				end
			end
		end
	end
	return reached, far
end
print(distances(maze))

local function fullest(weights, values, room)
	local best = {}
	for w = 0, room do
		best[w] = 0
	end
	for i = 1, #weights do
		for w = room, weights[i], -1 do
			local with = best[w - weights[i]] + values[i]
			if with > best[w] then
				best[w] = with
			end
		end
	end
	return best[room]
end
local weights, values = {}, {}
for i = 1, 60 do
	weights[i], values[i] = math.random(5, 40), math.random(1, 100)
end
print(fullest(weights, values, 600))

local ways = {[0] = 1}
for _, coin in ipairs({1, 2, 5, 10, 20, 50, 100, 200}) do
	for sum = coin, 5000 do
		ways[sum] = (ways[sum] or 0) + (ways[sum - coin] or 0)
	end
end
print(ways[200], ways[5000] % 1000000007)

-- Digits for letters: SEND + MORE = MONEY, by trying, with a set of digits that are taken.
local letters, taken, digit, tries = {"S", "E", "N", "D", "M", "O", "R", "Y"}, {}, {}, 0
local function number(word)
	local n = 0
	for i = 1, #word do
		n = n * 10 + digit[word:sub(i, i)]
	end
	return n
end
local function solve(at)
	if at > #letters then
		tries = tries + 1
		return number("SEND") + number("MORE") == number("MONEY")
	end
	local letter = letters[at]
	for d = (letter == "S" or letter == "M") and 1 or 0, 9 do
		local early = at > 4 and d ~= ({M = 1, O = 0, R = 8})[letter] and letter ~= "Y"
		if not taken[d] and not early then
			taken[d], digit[letter] = true, d
			if solve(at + 1) then
				return true
			end
			taken[d] = false
		end
	end
	return false
end
print(solve(1), digit.S, number("MONEY"), tries)
