-- One request of one caller. KEYS[1] is a hash of slice -> requests; ARGV is the length of a slice in microseconds, the
-- slices of a window, and the most that a window may hold. Answers {allowed, counted, microseconds until one leaves}.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local slice, slices, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local at = math.floor(now / slice)
local counts = redis.call('HGETALL', KEYS[1])
local total, oldest = 0, at
for i = 1, #counts, 2 do
  local s = tonumber(counts[i])
  if s < at - slices then
    redis.call('HDEL', KEYS[1], counts[i])
  else
    total = total + tonumber(counts[i + 1])
    if s < oldest then oldest = s end
  end
end
local allowed = 0
if total < most then
  allowed = 1
  total = total + 1
  redis.call('HINCRBY', KEYS[1], string.format('%.0f', at), 1)
  redis.call('PEXPIRE', KEYS[1], math.ceil(slice * (slices + 2) / 1000))
end
return {allowed, total, (oldest + slices + 1) * slice - now}
