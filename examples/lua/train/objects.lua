-- Objects: classes by metatables, inheritance, operators, finalisers, weak tables, much garbage.
local Shape = {}
Shape.__index = Shape
function Shape.new(class, fields)
	return setmetatable(fields, class)
end
function Shape:describe()
	return self.name .. " of area " .. string.format("%.2f", self:area())
end

local function derive(name, area)
	local class = setmetatable({name = name, area = area}, {__index = Shape})
	class.__index = class
	return class
end
local Circle = derive("circle", function(self) return math.pi * self.r ^ 2 end)
local Square = derive("square", function(self) return self.side * self.side end)
local Beam = derive("beam", function(self) return self.w * self.h end)

local area, length = 0, 0
for i = 1, 20000 do
	local shape
	if i % 3 == 0 then
		shape = Shape.new(Circle, {r = i % 17})
	elseif i % 3 == 1 then
		shape = Shape.new(Square, {side = i % 11})
	else
		shape = Shape.new(Beam, {w = i % 5, h = i % 7})
	end
	area = area + shape:area()
	if i % 10 == 0 then
		length = length + #shape:describe()
	end
end
print(string.format("%.3f", area), length)

local Vector = {}
Vector.__index = Vector
local function vector(x, y)
	return setmetatable({x = x, y = y}, Vector)
end
Vector.__add = function(a, b) return vector(a.x + b.x, a.y + b.y) end
Vector.__mul = function(a, k) return vector(a.x * k, a.y * k) end
Vector.__unm = function(a) return vector(-a.x, -a.y) end
Vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Vector.__lt = function(a, b) return a.x < b.x end
Vector.__len = function() return 2 end
Vector.__call = function(a, k) return a.x * k end
Vector.__tostring = function(a) return "(" .. a.x .. " " .. a.y .. ")" end
Vector.__concat = function(a, b) return tostring(a) .. tostring(b) end
local at, called = vector(0, 0), 0
for i = 1, 30000 do
	at = at + vector(i % 3, 1) * 2
	if at == vector(8, 8) or at < vector(0, 0) then
		at = -at
	end
	called = called + at(2) + #at
end
print(tostring(at), called, at .. vector(1, 2))

-- Fields that come from a function, and a table that may not be written to.
local asked = 0
local lazy = setmetatable({}, {__index = function(t, k)
	asked = asked + 1
	local v = k * k
	rawset(t, k, v)
	return v
end})
local sum = 0
for i = 1, 40000 do
	sum = sum + lazy[i % 900]
end
print(asked, sum)
local constant = setmetatable({}, {__newindex = function(_, k) error("no new field " .. k, 0) end})
print(pcall(function() constant.x = 1 end))

-- A list of nodes whose tail is dropped again and again; finalisers are counted.
local finalised = 0
local counted = {__gc = function() finalised = finalised + 1 end}
local list
for i = 1, 60000 do
	list = {next = list, value = i}
	if i % 1000 == 0 then
		list = nil
		setmetatable({}, counted)
	end
end
local weak = setmetatable({}, {__mode = "k"})
for i = 1, 2000 do
	weak[{}] = i
end
collectgarbage()
collectgarbage("generational")
for i = 1, 40000 do
	list = {i, next = i % 100 ~= 0 and list or nil}
end
collectgarbage("incremental")
collectgarbage()
print(finalised, next(weak))
