-- Lists the records of one shard that are due, the longest overdue first, and
-- drops entries whose record is gone.
--
-- KEYS: the due set. ARGV: now in milliseconds, the limit.
-- The records lie in the due set's slot because they share its hash tag.
local prefix = string.sub(KEYS[1], 1, 8)
local limit = tonumber(ARGV[2])
local found = {}
for _ = 1, 16 do
  local gone = 0
  local keys = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', #found, limit - #found)
  for _, key in ipairs(keys) do
    if string.sub(key, 1, 8) == prefix and redis.call('EXISTS', key) == 1 then
      found[#found + 1] = key
    else
      redis.call('ZREM', KEYS[1], key)
      gone = gone + 1
    end
  end
  if gone == 0 or #found >= limit then break end
end
return found
