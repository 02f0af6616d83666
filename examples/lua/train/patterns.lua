-- Patterns: finding, capturing, replacing in the text of a configuration and of a log.
local config = {}
for i = 1, 800 do
	config[#config + 1] = ("[section%d]\n  key_%d = value %d  ; remark\n  path=/srv/%d/x.tar.gz\n  on = %s\n"):format(
		i, i, i * 7, i, i % 2 == 0 and "true" or "false")
end
config = table.concat(config)

local sections, keys, numbers = 0, {}, 0
for line in config:gmatch("[^\n]+") do
	local section = line:match("^%[(%w+)%]$")
	if section then
		sections = sections + 1
	else
		local key, value = line:match("^%s*([%w_]+)%s*=%s*(.-)%s*$")
		value = value:gsub("%s*;.*$", "")
		keys[key] = (keys[key] or 0) + #value
		local number = value:match("(%d+)$")
		if number then
			numbers = numbers + tonumber(number)
		end
	end
end
print(sections, keys.path, keys.on, keys.key_17, numbers)

local changed, times = config:gsub("/(%d+)/([%w.]+)", "/%2/%1")
print(times, #changed, changed:find("x.tar.gz/800", 1, true) ~= nil)
local upper, words = config:gsub("%f[%a]%a+%f[%A]", function(w) return w:upper() end)
print(words, #upper, upper:sub(1, 30))
local filled = ("$name is $age, $name again"):rep(500, "\n"):gsub("%$(%w+)", {name = "Ada", age = 36})
print(#filled, select(2, filled:gsub("Ada", "")))

local log = {}
for i = 1, 2500 do
	log[i] = ("2024-%02d-%02dT%02d:%02d:%02d host%d [%d] %s: took %d.%03d ms (code=%d)"):format(
		i % 12 + 1, i % 28 + 1, i % 24, i % 60, (i * 7) % 60, i % 9, i * 13, i % 5 == 0 and "ERROR" or "info", i % 50,
		i % 1000, i % 4)
end
local slow, errors, codes = 0, 0, {}
for _, line in ipairs(log) do
	local y, m, d, time, host, pid, level, ms, code =
		line:match("^(%d+)-(%d+)-(%d+)T([%d:]+) (%w+) %[(%d+)%] (%a+): took ([%d.]+) ms %(code=(%d)%)$")
	if tonumber(ms) > 40 then
		slow = slow + tonumber(pid) + #host + #time
	end
	if level == "ERROR" then
		errors = errors + tonumber(y) - tonumber(m) - tonumber(d)
	end
	codes[code] = (codes[code] or 0) + 1
end
print(slow, errors, codes["0"], codes["3"])

local depth = 0
for part in ("f(a(b)c(d(e)))"):rep(800):gmatch("%b()") do
	depth = depth + select(2, part:gsub("%(", ""))
end
print(depth, ("  trim me \t"):match("^%s*(.-)%s*$"), ("a,b,,c"):gsub(",", ";"), ("key=val"):find("(%w+)=(%w+)"))
