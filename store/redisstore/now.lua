-- Reads the clock, in microseconds. It never goes back and never stands still.
--
-- KEYS: the clock. ARGV: the caller's last reading.
-- The clock holds a high-water mark and how far it runs ahead of TIME. When
-- TIME is behind what was already read (a fail-over to a server whose clock is
-- late, a clock set back), the clock goes on from there at TIME's pace.
local time = redis.call('TIME')
local mark, ahead = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
mark, ahead = tonumber(mark) or 0, tonumber(ahead) or 0
if mark + ahead >= 9e15 then mark, ahead = 0, 0 end

local last = math.max(mark, tonumber(ARGV[1]))
local now = time[1] * 1000000 + time[2] + ahead
local behind = last - now
if behind > 0 then
  ahead, now = ahead + behind, last
end
if behind > 0 or now - mark >= 100000 then
  redis.call('SET', KEYS[1], string.format('%.0f %.0f', now, ahead))
end
return now
