-- Text put together from pieces: concatenation, table.concat, format, pack, and a file read back.
local pieces = {}
for i = 1, 40000 do
	pieces[#pieces + 1] = i % 10
	pieces[#pieces + 1] = ","
end
local text = table.concat(pieces)
print(#text, text:sub(1, 20))

local grown = ""
for i = 1, 3000 do
	grown = grown .. i .. ";"
end
print(#grown, grown:sub(-12))

local function table_as_html(rows, columns)
	local out = {"<table>\n"}
	for r = 1, rows do
		out[#out + 1] = "<tr>"
		for c = 1, columns do
			out[#out + 1] = "<td class='c" .. c .. "'>" .. r * c .. "</td>"
		end
		out[#out + 1] = "</tr>\n"
	end
	out[#out + 1] = "</table>\n"
	return table.concat(out)
end
print(#table_as_html(600, 12))

local records = {}
for i = 1, 6000 do
	records[i] = string.pack("<i4 d s2 B", i, i / 3, "record" .. i, i % 256)
end
local packed = table.concat(records)
local at, sum, names = 1, 0, 0
while at <= #packed do
	local i, d, name, b
	i, d, name, b, at = string.unpack("<i4 d s2 B", packed, at)
	sum = sum + i + d * 3 + b
	names = names + #name
end
print(#packed, string.format("%.1f", sum), names)

local file = assert(io.tmpfile())
for i = 1, 5000 do
	file:write("line ", i, " of a file, ", i * 1.5, "\n")
end
file:seek("set")
local lines, bytes = 0, 0
for line in file:lines() do
	lines = lines + 1
	bytes = bytes + #line
end
file:seek("set", 5)
print(lines, bytes, file:read("n"), file:read("l"), #file:read("a"))
file:close()
