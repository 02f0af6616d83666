-- The sun and four planets, as points that attract each other, followed in small steps of time.
local function body(x, y, z, vx, vy, vz, mass)
	return {x = x, y = y, z = z, vx = vx * 365.24, vy = vy * 365.24, vz = vz * 365.24, mass = mass * 4 * math.pi ^ 2}
end
local bodies = {
	body(0, 0, 0, 0, 0, 0, 1),
	body(4.841431, -1.160320, -0.103622, 0.001660, 0.007699, -0.000069, 0.000954792),
	body(8.343367, 4.124799, -0.403523, -0.002767, 0.004999, 0.000023, 0.000285886),
	body(12.894370, -15.111151, -0.223308, 0.002965, 0.002378, -0.000030, 0.0000436624),
	body(15.379697, -25.919315, 0.179259, 0.002681, 0.001628, -0.000095, 0.0000515139),
}

local function energy()
	local e = 0
	for i, a in ipairs(bodies) do
		e = e + a.mass * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2) / 2
		for j = i + 1, #bodies do
			local b = bodies[j]
			e = e - a.mass * b.mass / math.sqrt((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2)
		end
	end
	return e
end

local function advance(dt)
	local n = #bodies
	for i = 1, n do
		local a = bodies[i]
		for j = i + 1, n do
			local b = bodies[j]
			local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
			local square = dx * dx + dy * dy + dz * dz
			local pull = dt / (square * math.sqrt(square))
			a.vx, a.vy, a.vz = a.vx - dx * b.mass * pull, a.vy - dy * b.mass * pull, a.vz - dz * b.mass * pull
			b.vx, b.vy, b.vz = b.vx + dx * a.mass * pull, b.vy + dy * a.mass * pull, b.vz + dz * a.mass * pull
		end
	end
	for i = 1, n do
		local a = bodies[i]
		a.x, a.y, a.z = a.x + dt * a.vx, a.y + dt * a.vy, a.z + dt * a.vz
	end
end

print(("%.8f"):format(energy()))
for _ = 1, 60000 do
	advance(0.01)
end
print(("%.8f"):format(energy()))
