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
local function expire(counters, holds)
  local found = false
  while true do
    local gone = redis.call('ZRANGEBYSCORE', holds, '-inf', now, 'LIMIT', 0, 1000)
    if #gone == 0 then return found end
    found = true
    for _, member in ipairs(gone) do
      for kind, amount in string.gmatch(string.match(member, '|([^|]*)$'), '([^=,]+)=(%d+)') do
        add(counters, 'r:' .. kind, '-' .. amount)
      end
    end
    redis.call('ZREM', holds, unpack(gone))
  end
end
`;

/** What RESERVE and SETTLE share: each looks at a project once, however many of a batch are about it. */
const batch = `
local batch = cjson.decode(ARGV[2])
local projects = {}
local function projectOf(number)
  local project = projects[number]
  if not project then
    project = { members = {}, known = {}, pending = {}, base = {}, limits = {} }
    projects[number] = project
  end
  return project
end
local function note(project, field, amount)
  project.pending[field] = (project.pending[field] or 0) + amount
end
local function lookUp(project)
  if #project.members == 0 then return end
  local scores = redis.call('ZMSCORE', project.holds, unpack(project.members))
  for index, member in ipairs(project.members) do project.known[member] = scores[index] end
end
local function write(project)
  for field, amount in pairs(project.pending) do
    if amount ~= 0 then add(project.counters, field, amount) end
  end
end
`;

/**
 * KEYS per project: counters, limits, holds. ARGV: now, and as JSON a list of [number of the project from 0, member,
 * ttlMs (or '' and -1: used at once), and for each kind its name, amount and default limit]. Answers with one list per request: kind, used,
 * limit of what does not fit.
 */
export const RESERVE = script(`${common}${batch}
for _, request in ipairs(batch) do
  local project = projectOf(request[1])
  project.counters, project.limitsKey, project.holds = KEYS[request[1] * 3 + 1], KEYS[request[1] * 3 + 2], KEYS[request[1] * 3 + 3]
  if request[3] >= 0 then project.members[#project.members + 1] = request[2] end
end
for _, project in pairs(projects) do lookUp(project) end
local function usedOf(project, kind)
  if not project.base[kind] then
    local counts = redis.call('HMGET', project.counters, 'u:' .. kind, 'r:' .. kind)
    project.base[kind] = tonumber(counts[1] or 0) + tonumber(counts[2] or 0)
  end
  return project.base[kind] + (project.pending['u:' .. kind] or 0) + (project.pending['r:' .. kind] or 0)
end
local function limitOf(project, kind, default)
  if project.limits[kind] == nil then
    local own = redis.call('HGET', project.limitsKey, kind)
    project.limits[kind] = own and tonumber(own) or default
  end
  return project.limits[kind]
end
local function exceeded(project, request)
  local excess = {}
  for index = 4, #request, 3 do
    local kind = request[index]
    local used, limit = usedOf(project, kind), limitOf(project, kind, request[index + 2])
    local after = used + request[index + 1]
    if after > 9007199254740991 or (limit >= 0 and after > limit) then
      excess[#excess + 1] = kind
      excess[#excess + 1] = string.format('%.0f', used)
      excess[#excess + 1] = string.format('%.0f', limit)
    end
  end
  return excess
end
local replies = {}
for number, request in ipairs(batch) do
  local project, member, ttl = projectOf(request[1]), request[2], request[3]
  local excess = {}
  -- A client that lost its connection sends again what it got no answer to: once is enough.
  if not project.known[member] then
    excess = exceeded(project, request)
    if #excess > 0 and not project.expired then
      project.expired, project.base = true, {}
      if expire(project.counters, project.holds) then excess = exceeded(project, request) end
    end
    if #excess == 0 then
      local column = ttl < 0 and 'u:' or 'r:'
      for index = 4, #request, 3 do note(project, column .. request[index], request[index + 1]) end
      if ttl >= 0 then
        project.added = project.added or {}
        project.added[#project.added + 1] = now + ttl
        project.added[#project.added + 1] = member
      end
    end
  end
  replies[number] = excess
end
for _, project in pairs(projects) do
  write(project)
  if project.added then redis.call('ZADD', project.holds, unpack(project.added)) end
end
return replies`);

/**
 * KEYS per project: counters, holds. ARGV: now, and as JSON a list of [number of the project from 0, member, 1 for
 * commit or 0 for release, and each kind and amount]. Answers 1 for each reservation that was ended so, 0 for those that are gone or expired.
 */
export const SETTLE = script(`${common}${batch}
for _, settlement in ipairs(batch) do
  local project = projectOf(settlement[1])
  project.counters, project.holds = KEYS[settlement[1] * 2 + 1], KEYS[settlement[1] * 2 + 2]
  project.members[#project.members + 1] = settlement[2]
end
for _, project in pairs(projects) do lookUp(project) end
local replies = {}
for number, settlement in ipairs(batch) do
  local project, member = projectOf(settlement[1]), settlement[2]
  local expiry = project.known[member]
  replies[number] = 0
  if expiry then
    project.known[member] = nil
    local alive = tonumber(expiry) > now
    for index = 4, #settlement, 2 do
      note(project, 'r:' .. settlement[index], -settlement[index + 1])
      if alive and settlement[3] == 1 then note(project, 'u:' .. settlement[index], settlement[index + 1]) end
    end
    if alive then replies[number] = 1 end
  end
end
for _, project in pairs(projects) do
  write(project)
  redis.call('ZREM', project.holds, unpack(project.members))
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
