-- Sums over bytes with shifts and masks: CRC-32, Adler-32 and FNV-1a of the same text.
local crc_of = {}
for i = 0, 255 do
	local c = i
	for _ = 1, 8 do
		c = (c & 1 == 1) and (c >> 1) ~ 0xedb88320 or c >> 1
	end
	crc_of[i] = c
end
local function crc32(s)
	local c = 0xffffffff
	for i = 1, #s do
		c = crc_of[(c ~ s:byte(i)) & 0xff] ~ c >> 8
	end
	return c ~ 0xffffffff
end
local function adler32(s)
	local a, b = 1, 0
	for i = 1, #s do
		a = (a + s:byte(i)) % 65521
		b = (b + a) % 65521
	end
	return b << 16 | a
end
local function fnv1a(s)
	local h = 0xcbf29ce484222325
	for i = 1, #s do
		h = (h ~ s:byte(i)) * 0x100000001b3
	end
	return h
end

print(("%08x %08x"):format(crc32("123456789"), adler32("Wikipedia")))
local text = ("The quick brown fox jumps over the lazy dog. "):rep(16000)
print(("%08x %08x %016x"):format(crc32(text), adler32(text), fnv1a(text)))
