-- Counts the words of standard input, where a word ends behind a vowel; prints the most frequent ones.
local counts, lines, total = {}, 0, 0
for line in io.lines() do
	lines = lines + 1
	for word in line:gmatch("[^aeiou]*[aeiou]+") do
		word = word:lower()
		counts[word] = (counts[word] or 0) + 1
		total = total + 1
	end
end
local words = {}
for word in pairs(counts) do
	words[#words + 1] = word
end
table.sort(words, function(x, y)
	if counts[x] ~= counts[y] then
		return counts[x] > counts[y]
	end
	return x < y
end)
print(lines, total, #words)
for i = 1, 10 do
	print(words[i], counts[words[i]])
end
