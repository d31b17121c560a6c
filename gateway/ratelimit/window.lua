-- Requests of callers. Each key is a hash of slice -> requests; ARGV is the length of a slice in microseconds, the slices of
-- a window, 1 to count or 0 to look, and for each key the most that a window may hold. Answers for each key: allowed, counted,
-- microseconds until one leaves. When the clock was put back, slices lie ahead of now: all slices of the key move back by as
-- much as the newest does, so the caller has neither a fresh window nor to wait until the clock is there again.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local slice, slices, count = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local at = math.floor(now / slice)
local answer = {}
for k = 1, #KEYS do
  local most = tonumber(ARGV[3 + k])
  local counts = redis.call('HGETALL', KEYS[k])
  local total, oldest, newest = 0, at, at
  for i = 1, #counts, 2 do newest = math.max(newest, tonumber(counts[i])) end
  local ahead = newest - at
  if count and ahead > 0 then redis.call('DEL', KEYS[k]) end
  for i = 1, #counts, 2 do
    local s = tonumber(counts[i]) - ahead
    if s >= at - slices then
      total = total + tonumber(counts[i + 1])
      if s < oldest then oldest = s end
      if count and ahead > 0 then redis.call('HSET', KEYS[k], string.format('%.0f', s), counts[i + 1]) end
    elseif count and ahead == 0 then
      redis.call('HDEL', KEYS[k], counts[i])
    end
  end
  if count and ahead > 0 then redis.call('PEXPIRE', KEYS[k], math.ceil(slice * (slices + 2) / 1000)) end
  local allowed = 0
  if total < most then
    allowed = 1
    if count then
      total = total + 1
      redis.call('HINCRBY', KEYS[k], string.format('%.0f', at), 1)
      redis.call('PEXPIRE', KEYS[k], math.ceil(slice * (slices + 2) / 1000))
    end
  end
  table.insert(answer, allowed)
  table.insert(answer, total)
  table.insert(answer, (oldest + slices + 1) * slice - now)
end
return answer
