import { createHash } from 'node:crypto';

/** A Lua script and the name Redis knows it by once it has seen it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * What all scripts share. ARGV[1] is the time in ms, or empty for the clock of the server.
 *
 * Counters of a project are a hash: `u:<kind>` used, `r:<kind>` reserved, left out where 0. Its reservations are a
 * sorted set: `<id>|<kind>=<amount>,...` by the time they expire, so that a member alone tells what it holds.
 */
const common = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function add(counters, field, amount)
  if redis.call('HINCRBY', counters, field, amount) == 0 then redis.call('HDEL', counters, field) end
end
local function free(counters, member, commit)
  for kind, amount in string.gmatch(string.match(member, '[^|]*$'), '([^=,]+)=(%d+)') do
    add(counters, 'r:' .. kind, '-' .. amount)
    if commit then add(counters, 'u:' .. kind, amount) end
  end
end
local function expire(counters, holds)
  local found = false
  while true do
    local gone = redis.call('ZRANGEBYSCORE', holds, '-inf', now, 'LIMIT', 0, 1000)
    if #gone == 0 then return found end
    found = true
    for _, member in ipairs(gone) do free(counters, member, false) end
    redis.call('ZREM', holds, unpack(gone))
  end
end
`;

/**
 * KEYS per request: counters, limits, holds. ARGV per request: member, ttlMs or '', number of kinds, and for each
 * kind its name, amount and default limit. Answers with one list per request: kind, used, limit of what does not fit.
 */
export const RESERVE = script(`${common}
local position, replies = 2, {}
local function exceeded(counters, limits, first, kinds)
  local excess = {}
  for index = first, first + (kinds - 1) * 3, 3 do
    local kind, amount = ARGV[index], tonumber(ARGV[index + 1])
    local counts = redis.call('HMGET', counters, 'u:' .. kind, 'r:' .. kind)
    local used = tonumber(counts[1] or 0) + tonumber(counts[2] or 0)
    local limit = redis.call('HGET', limits, kind) or ARGV[index + 2]
    local after, most = used + amount, tonumber(limit)
    if after > 9007199254740991 or (most >= 0 and after > most) then
      excess[#excess + 1] = kind
      excess[#excess + 1] = string.format('%.0f', used)
      excess[#excess + 1] = limit
    end
  end
  return excess
end
for request = 0, #KEYS / 3 - 1 do
  local counters, limits, holds = KEYS[request * 3 + 1], KEYS[request * 3 + 2], KEYS[request * 3 + 3]
  local member, ttl, kinds = ARGV[position], ARGV[position + 1], tonumber(ARGV[position + 2])
  local first = position + 3
  local excess = {}
  -- A client that lost its connection sends again what it got no answer to: once is enough.
  if not redis.call('ZSCORE', holds, member) then
    excess = exceeded(counters, limits, first, kinds)
    if #excess > 0 and expire(counters, holds) then excess = exceeded(counters, limits, first, kinds) end
    if #excess == 0 then
      local column = ttl == '' and 'u:' or 'r:'
      for index = first, first + (kinds - 1) * 3, 3 do
        redis.call('HINCRBY', counters, column .. ARGV[index], ARGV[index + 1])
      end
      if ttl ~= '' then redis.call('ZADD', holds, now + tonumber(ttl), member) end
    end
  end
  replies[request + 1] = excess
  position = first + kinds * 3
end
return replies`);

/** KEYS per settlement: counters, holds. ARGV per settlement: member, commit or release. Answers 1 or 0 for each. */
export const SETTLE = script(`${common}
local replies = {}
for index = 1, #KEYS / 2 do
  local counters, holds = KEYS[index * 2 - 1], KEYS[index * 2]
  local member, outcome = ARGV[index * 2], ARGV[index * 2 + 1]
  local expiry = redis.call('ZSCORE', holds, member)
  replies[index] = 0
  if expiry then
    local alive = tonumber(expiry) > now
    redis.call('ZREM', holds, member)
    free(counters, member, alive and outcome == 'commit')
    if alive then replies[index] = 1 end
  end
end
return replies`);

/** KEYS: holds. ARGV: now, member, ttlMs. */
export const RENEW = script(`${common}
local expiry = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not expiry or tonumber(expiry) <= now then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[2])
return 1`);

/** KEYS: counters, holds. Answers with the hash of counters. */
export const COUNTS = script(`${common}
expire(KEYS[1], KEYS[2])
return redis.call('HGETALL', KEYS[1])`);

/** KEYS: counters. ARGV: now, and kind, amount by turns. */
export const GIVE_BACK = script(`
for index = 2, #ARGV, 2 do
  local field = 'u:' .. ARGV[index]
  local used = tonumber(redis.call('HGET', KEYS[1], field) or 0)
  if used > tonumber(ARGV[index + 1]) then
    redis.call('HINCRBY', KEYS[1], field, '-' .. ARGV[index + 1])
  else
    redis.call('HDEL', KEYS[1], field)
  end
end`);

/** KEYS: limits, list, sequence. ARGV: now, project, and kind, limit by turns. An empty field marks the entry itself. */
export const SET_LIMITS = script(`
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '', '', unpack(ARGV, 3))
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  redis.call('ZADD', KEYS[2], redis.call('INCR', KEYS[3]), ARGV[2])
end`);

/** KEYS: limits, list. ARGV: now, project. */
export const REMOVE_LIMITS = script(`
redis.call('ZREM', KEYS[2], ARGV[2])
return redis.call('DEL', KEYS[1])`);

/** KEYS: list. ARGV: now, what the limit keys begin with, offset, limit. Answers: total, then project, hash by turns. */
export const LIST_LIMITS = script(`
local reply = { redis.call('ZCARD', KEYS[1]) }
local offset, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
if offset >= reply[1] or limit == 0 then return reply end
for _, project in ipairs(redis.call('ZRANGE', KEYS[1], offset, offset + math.min(limit, reply[1]) - 1)) do
  reply[#reply + 1] = project
  reply[#reply + 1] = redis.call('HGETALL', ARGV[2] .. project)
end
return reply`);
