-- The compiler and the handling of errors: sources made, loaded, run, dumped, and refused.
local function source(i)
	return ([[
		local a%d, b = %d, "text \65\x42\u{43}\z
			and more"
		local t = {1, 2, x = 3, [10] = {a%d, b}, function(...) return ... end; "last"}
		local s = 0
		for i = 1, %d do
			if i %% 3 == 0 and i ~= 9 or not b then s = s + i // 2 elseif i > 20 then goto done else s = s - 1 end
		end
		::done::
		while s > 100 do s = s - 7 if s == 3 then break end end
		repeat local x <const> = s & 0x3f | 1 << 2 ~ 5; s = x - 1 until s < 1e2
		for k, v in pairs({a = 1}) do s = s + v end
		--[==[ a long remark ]==]
		return s, #t, t[3](a%d), -s ^ 2, 'q' .. [=[long]=] .. s
	]]):format(i, i, i, i % 40, i)
end
local total, dumped = 0, 0
for i = 1, 1200 do
	local chunk = assert(load(source(i), "=made", "t"))
	local s, n, a = chunk()
	total = total + s + n + a
	if i % 4 == 0 then
		local binary = string.dump(chunk, i % 8 == 0)
		dumped = dumped + select(3, load(binary, "=again", "b")())
	end
end
print(total, dumped)

local refused = 0
for _, wrong in ipairs({"x =", "for i = 1 do end", "local x <close> = ", "return 'open", "goto nowhere", "a.b:c = 1",
	"x = }", "if a then", "local function f() return end end", "x = 0x", "break", "return ...; x"}) do
	for _ = 1, 100 do
		local chunk, why = load(wrong, "=wrong")
		if not chunk then
			refused = refused + #why
		end
	end
end
print(refused)

local caught = {}
for i = 1, 6000 do
	local good, why = pcall(function()
		if i % 4 == 0 then
			error({code = i})
		elseif i % 4 == 1 then
			local none
			return none.field
		elseif i % 4 == 2 then
			return #i + 1
		end
		return i
	end)
	local kind = good and "fine" or type(why) == "table" and "table" or why:match("attempt to (%w+)")
	caught[kind] = (caught[kind] or 0) + 1
end
print(caught.fine, caught.table, caught.index, caught.get)
local handled = 0
for i = 1, 500 do
	local _, trace = xpcall(function() error("deep " .. i) end, debug.traceback)
	handled = handled + (trace:find("stack traceback", 1, true) and 1 or 0)
end
print(handled)

local closed = 0
for _ = 1, 3000 do
	local _ <close> = setmetatable({}, {__close = function() closed = closed + 1 end})
end
print(closed)
