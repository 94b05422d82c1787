-- Writes records of one shard, all of them or none, if each still has the expected revision.
--
-- KEYS: the shard's due set, the records, the clock (optional, last).
-- ARGV: the number of records, the wake-up channel, the time in microseconds from which on
--       nothing is written ('' for none); then for each record the expected revision ('' for
--       none), the new record with its head, due and keep-until in milliseconds ('' for never).
-- Returns 1 if the first record now has the new revision, 0 on a conflict, -1 if it is too late.
--
-- A record's head is one byte of format, 36 of revision and 32 of signature.
local n = tonumber(ARGV[1])
for i = 1, n do
  local key, base = KEYS[1 + i], 4 * i
  local prev, mine = ARGV[base], string.sub(ARGV[base + 1], 1, 69)
  local head = redis.call('GETRANGE', key, 0, 68)
  -- A due set of another type stops the script here, before anything is written.
  redis.call('ZSCORE', KEYS[1], key)
  if head ~= '' and #head < 69 then return 0 end
  local rev = string.sub(head, 2, 37)
  if rev == string.sub(mine, 2, 37) then
    -- Sent before. The signature tells a repeat from a revision used twice. The head is
    -- written once more so that a WAIT on this connection waits for it.
    if head ~= mine then return 0 end
    if i == 1 then
      redis.call('SETRANGE', key, 0, mine)
      return 1
    end
  elseif rev ~= prev then
    return 0
  end
end
if ARGV[3] ~= '' then
  local time = redis.call('TIME')
  local clock = KEYS[n + 2]
  local ahead = clock and string.match(redis.call('GET', clock) or '', '^%d+ (%d+)$')
  if time[1] * 1000000 + time[2] + (tonumber(ahead) or 0) >= tonumber(ARGV[3]) then return -1 end
end
for i = 1, n do
  local key, base = KEYS[1 + i], 4 * i
  local due, keep = ARGV[base + 2], ARGV[base + 3]
  if keep == '' then
    redis.call('SET', key, ARGV[base + 1])
  else
    redis.call('SET', key, ARGV[base + 1], 'PXAT', keep)
  end
  if due == '' then
    redis.call('ZREM', KEYS[1], key)
  else
    redis.call('ZADD', KEYS[1], due, key)
  end
  redis.call('PUBLISH', ARGV[2], key)
end
return 1
