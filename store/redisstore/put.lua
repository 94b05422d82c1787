-- Writes a record if its revision is still the expected one.
--
-- KEYS: the record, its shard's due set, the clock (optional).
-- ARGV: expected revision ('' for none), the new record with its head, due and
--       keep-until in milliseconds ('' for never), the wake-up channel, the time
--       in microseconds from which on nothing is written ('' for none).
-- Returns 1 if the record now has the new revision, 0 on a conflict, -1 if it is
-- too late.
--
-- A record's head is one byte of format, 36 of revision and 32 of signature.
local head = redis.call('GETRANGE', KEYS[1], 0, 68)
-- A due set of another type stops the script here, before anything is written.
redis.call('ZSCORE', KEYS[2], KEYS[1])
if head ~= '' and #head < 69 then return 0 end

local mine = string.sub(ARGV[2], 1, 69)
local rev = string.sub(head, 2, 37)
if rev == string.sub(mine, 2, 37) then
  -- Sent before. The signature tells a repeat from a revision used twice. The
  -- head is written once more so that a WAIT on this connection waits for it.
  if head ~= mine then return 0 end
  redis.call('SETRANGE', KEYS[1], 0, mine)
  return 1
elseif rev == ARGV[1] then
  if ARGV[6] ~= '' then
    local time = redis.call('TIME')
    local ahead = KEYS[3] and string.match(redis.call('GET', KEYS[3]) or '', '^%d+ (%d+)$')
    if time[1] * 1000000 + time[2] + (tonumber(ahead) or 0) >= tonumber(ARGV[6]) then return -1 end
  end
  if ARGV[4] == '' then
    redis.call('SET', KEYS[1], ARGV[2])
  else
    redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[4])
  end
  if ARGV[3] == '' then
    redis.call('ZREM', KEYS[2], KEYS[1])
  else
    redis.call('ZADD', KEYS[2], ARGV[3], KEYS[1])
  end
else
  return 0
end
redis.call('PUBLISH', ARGV[5], KEYS[1])
return 1
