-- Takes or renews a lease.
--
-- KEYS: the lease, its fence. ARGV: the holder, the time to live in milliseconds.
-- Returns the fence, or 0 if another holds the lease.
local holder = redis.call('GET', KEYS[1])
local fence = tonumber(redis.call('GET', KEYS[2]) or '0') or 0
if not (fence < 9e15) then
  return redis.error_reply('the fence of the lease was changed outside approver: delete ' .. KEYS[2])
end
if holder and holder ~= ARGV[1] then return 0 end
if holder and fence > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return fence
end
-- The time is a floor, so that fences grow even if the counter was lost with
-- the server that kept it.
local time = redis.call('TIME')
fence = math.max(fence + 1, time[1] * 1000000 + time[2])
redis.call('SET', KEYS[2], string.format('%.0f', fence))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return fence
