-- Binary trees, made, walked through and forgotten: work for the allocator and the collector.
local function tree(depth)
	if depth == 0 then
		return {}
	end
	return {tree(depth - 1), tree(depth - 1)}
end
local function nodes(t)
	return t[1] and 1 + nodes(t[1]) + nodes(t[2]) or 1
end

local long_lived = tree(14)
for depth = 4, 12, 4 do
	local trees, sum = 1 << (12 - depth + 5), 0
	for _ = 1, trees do
		sum = sum + nodes(tree(depth))
	end
	print(trees, depth, sum)
end
print(nodes(long_lived))
