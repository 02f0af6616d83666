-- Strings one by one: cutting, joining, searching, converting. No patterns: those are in patterns.lua.
local names = {"alder", "birch", "cedar", "elm", "hazel", "juniper", "larch", "maple", "oak", "pine"}

local function caesar(s, by)
	local out = {}
	for i = 1, #s do
		local b = s:byte(i)
		if b >= 97 and b <= 122 then
			b = (b - 97 + by) % 26 + 97
		end
		out[i] = string.char(b)
	end
	return table.concat(out)
end

local function is_palindrome(s)
	return s == s:reverse()
end

local letters, palindromes, found, compared = 0, 0, 0, 0
for i = 1, 6000 do
	local name = names[i % #names + 1] .. "-" .. i
	local secret = caesar(name, i % 26)
	assert(caesar(secret, 26 - i % 26) == name)
	letters = letters + #secret:upper():lower()
	if is_palindrome(tostring(i)) then
		palindromes = palindromes + 1
	end
	if (secret .. name):find(name, 1, true) then
		found = found + 1
	end
	if name:sub(1, 3) < secret:sub(-3) then
		compared = compared + 1
	end
end
print(letters, palindromes, found, compared)

local sum = 0
for i = 1, 30000 do
	sum = sum + tonumber(tostring(i)) + tonumber(("%x"):format(i), 16) + math.tointeger(tonumber(i .. ".0"))
end
print(sum)

local lines = {}
for i = 1, 4000 do
	lines[#lines + 1] = string.format("%5d|%-10s|%08.3f|%q", i, names[i % 10 + 1], i / 7, "a\tb" .. i)
end
local all = table.concat(lines, "\n")
print(#all, all:sub(-40))

local codes = 0
for _ = 1, 60 do
	for _, c in utf8.codes("grüße, žluťoučký kůň, 日本語, καλημέρα") do
		codes = codes + c
	end
end
print(codes, utf8.len("καλημέρα"), utf8.char(0x65e5, 0x672c))
print(#("ab"):rep(100000, ","), ("x"):rep(3), ("abc" < "abd"), ("Z" < "a"))
