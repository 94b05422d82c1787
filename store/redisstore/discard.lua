-- Takes away a record that is no record of ours, if it is still the one that was read.
--
-- KEYS: the record. ARGV: its bytes. Returns 1 if it is gone, 0 if it is another one.
local got = redis.pcall('GET', KEYS[1])
local foreign = type(got) == 'table' and got.err -- of another type
if foreign or got == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], 0)
  return 1
end
return 0
