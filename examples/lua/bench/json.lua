-- JSON written and read again: a catalogue of things, nested, with text that has to be escaped.
local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t"}
local encode

local function encode_object(t, out)
	local keys = {}
	for k in pairs(t) do
		keys[#keys + 1] = k
	end
	table.sort(keys)
	out[#out + 1] = "{"
	for i, k in ipairs(keys) do
		out[#out + 1] = i > 1 and ',"' or '"'
		out[#out + 1] = k
		out[#out + 1] = '":'
		encode(t[k], out)
	end
	out[#out + 1] = "}"
end
encode = function(v, out)
	if type(v) == "string" then
		out[#out + 1] = '"' .. v:gsub('["\\%c]', escapes) .. '"'
	elseif type(v) ~= "table" then
		out[#out + 1] = tostring(v)
	elseif v[1] ~= nil then
		for i, item in ipairs(v) do
			out[#out + 1] = i > 1 and "," or "["
			encode(item, out)
		end
		out[#out + 1] = "]"
	else
		encode_object(v, out)
	end
end

local unescape = {n = "\n", t = "\t", ["\""] = "\"", ["\\"] = "\\"}
local decode
local function decode_string(s, at)
	local last = at
	repeat
		last = s:find('["\\]', last)
		if s:sub(last, last) == "\\" then
			last = last + 2
		else
			return s:sub(at, last - 1):gsub("\\(.)", unescape), last + 1
		end
	until false
end
local words = {t = true, f = false}
decode = function(s, at)
	local c = s:sub(at, at)
	if c == '"' then
		return decode_string(s, at + 1)
	elseif c == "{" or c == "[" then
		local t, close = {}, c == "{" and "}" or "]"
		at = at + 1
		while s:sub(at, at) ~= close do
			local k, v = #t + 1, nil
			if close == "}" then
				k, at = decode_string(s, at + 1)
				at = at + 1
			end
			v, at = decode(s, at)
			t[k] = v
			if s:sub(at, at) == "," then
				at = at + 1
			end
		end
		return t, at + 1
	elseif c == "t" or c == "f" then
		return words[c], s:find("e", at, true) + 1
	end
	local number, behind = s:match("^(-?[%d.]+)()", at)
	return tonumber(number), behind
end

local things = {}
for i = 1, 2500 do
	things[i] = {id = i, name = ('thing "%d"'):format(i), price = i * 0.25, sold = i % 3 == 0,
		tags = {"red\tgreen", "c:\\things\\" .. i, "line\nbreak"}, size = {w = i % 40 + 1, h = i % 7, deep = {-i, i}}}
end
local out = {}
encode(things, out)
local text = table.concat(out)
local again = decode(text, 1)
local sum = 0
for i, thing in ipairs(again) do
	assert(thing.name == things[i].name and thing.tags[3] == "line\nbreak" and thing.sold == (i % 3 == 0))
	sum = sum + thing.price + thing.size.deep[1] + thing.size.w
end
out = {}
encode(again, out)
print(#text, sum, table.concat(out) == text)
