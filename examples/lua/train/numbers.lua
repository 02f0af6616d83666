-- Floating point and whole numbers: a picture of a fractal, integrals, a fit, random walks, long division.
math.randomseed(3)

local function mandelbrot(size, limit)
	local inside, steps = 0, 0
	for row = 0, size - 1 do
		local ci = 2.4 * row / size - 1.2
		for column = 0, size - 1 do
			local cr = 3.0 * column / size - 2.0
			local r, i, n = 0.0, 0.0, 0
			while n < limit and r * r + i * i <= 4.0 do
				r, i = r * r - i * i + cr, 2 * r * i + ci
				n = n + 1
			end
			steps = steps + n
			if n == limit then
				inside = inside + 1
			end
		end
	end
	return inside, steps
end
print(mandelbrot(100, 60))

local function simpson(f, a, b, n)
	local h = (b - a) / n
	local sum = f(a) + f(b)
	for i = 1, n - 1 do
		sum = sum + f(a + i * h) * (i % 2 == 0 and 2 or 4)
	end
	return sum * h / 3
end
print(("%.9f %.9f %.9f"):format(simpson(math.sin, 0, math.pi, 20000), simpson(function(x) return x ^ 3 - 2 * x + 1 end, -1, 4, 20000),
	simpson(function(x) return math.exp(-x * x) / (1 + math.abs(x)) end, -3, 3, 20000)))

-- The line through points that lie beside one, by least squares.
local points = {}
for i = 1, 5000 do
	points[i] = {x = i / 100, y = 3.5 * i / 100 - 2 + (math.random() - 0.5)}
end
local slope, offset = 0, 0
for _ = 1, 8 do
	local sx, sy, sxx, sxy = 0, 0, 0, 0
	for _, p in ipairs(points) do
		sx = sx + p.x
		sy = sy + p.y
		sxx = sxx + p.x * p.x
		sxy = sxy + p.x * p.y
	end
	slope = (#points * sxy - sx * sy) / (#points * sxx - sx * sx)
	offset = (sy - slope * sx) / #points
end
print(("%.4f %.4f"):format(slope, offset))

-- Particles in a box: each has fields that change by the field of another object.
local box = {width = 10, height = 6, drag = 0.999}
local particles = {}
for i = 1, 60 do
	particles[i] = {x = math.random() * box.width, y = math.random() * box.height, dx = math.random() - 0.5, dy = math.random() - 0.5}
end
local bounces = 0
for _ = 1, 500 do
	for i = 1, #particles do
		local p = particles[i]
		p.x = p.x + p.dx
		p.y = p.y + p.dy
		p.dx, p.dy = p.dx * box.drag, p.dy * box.drag
		if p.x < 0 or p.x > box.width then
			p.dx = -p.dx
			bounces = bounces + 1
		end
		if p.y < 0 or p.y > box.height then
			p.dy = -p.dy
			bounces = bounces + 1
		end
	end
end
print(bounces)

local function gcd(a, b)
	while b ~= 0 do
		a, b = b, a % b
	end
	return a
end
local coprime, digits = 0, 0
for a = 1, 250 do
	for b = 1, 120 do
		if gcd(a, b) == 1 then
			coprime = coprime + 1
		end
	end
end
local remainder = 1
for _ = 1, 60000 do
	remainder = remainder * 10
	digits = digits + remainder // 9973
	remainder = remainder % 9973
end
print(coprime, digits, 7 // 2, -7 // 2, 7.5 // 2, -7 % 3, 2 ^ 0.5, 1e15 // 1, math.ult(1, -1), math.maxinteger + 1 == math.mininteger)
