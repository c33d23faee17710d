import { countingFunctions, createScript, limitFunctions, RECEIPT_SECONDS } from './lua.js';

/** Lua functions for RESERVE and SETTLE, which read the data of each project once per batch. */
const batchFunctions = `
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
local function plan(project, field, amount)
  project.pending[field] = (project.pending[field] or 0) + amount
end
local function lookUp(project)
  if #project.members == 0 then return end
  local scores = redis.call('ZMSCORE', project.reservations, unpack(project.members))
  for index, member in ipairs(project.members) do project.known[member] = scores[index] end
end
local function write(project)
  for field, amount in pairs(project.pending) do
    if amount ~= 0 then add(project.counters, field, amount) end
  end
end
`;

/**
 * Reserves or consumes the amounts of a batch of requests. KEYS for each project: counters, limits, reservations; for consume
 * also receipts at the end. ARGV: now, a JSON list of [project index from 0, member, ttlMs (for consume: '' and -1),
 * and for each kind its name, amount and default limit], and for consume the operation number. Returns a list for each
 * request: kind, used and limit of each kind that exceeds its limit.
 */
export const RESERVE = createScript(`${countingFunctions}${limitFunctions}${batchFunctions}
local receipts, number, done = KEYS[#KEYS], tonumber(ARGV[3] or 0), ''
if number > 0 then
  local last = tonumber(redis.call('HGET', receipts, 'last') or 0)
  if last > number then return redis.error_reply('UNDONE') end
  if last == number then done = redis.call('HGET', receipts, 'admitted') end
end
for _, request in ipairs(batch) do
  local project = projectOf(request[1])
  project.counters, project.limitsKey, project.reservations = KEYS[request[1] * 3 + 1], KEYS[request[1] * 3 + 2], KEYS[request[1] * 3 + 3]
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
    if not fits(limit, used + request[index + 1]) then note(excess, kind, used, limit) end
  end
  return excess
end
local replies, admitted = {}, {}
for position, request in ipairs(batch) do
  local project, member, ttl = projectOf(request[1]), request[2], request[3]
  local excess = {}
  -- A client that lost its connection repeats requests without a response. They must not be executed twice.
  if not project.known[member] and string.sub(done, position, position) ~= '1' then
    excess = exceeded(project, request)
    if #excess > 0 and not project.expired then
      project.expired, project.base = true, {}
      if expire(project.counters, project.reservations) then excess = exceeded(project, request) end
    end
    if #excess == 0 then
      local column = ttl < 0 and 'u:' or 'r:'
      for index = 4, #request, 3 do plan(project, column .. request[index], request[index + 1]) end
      if ttl >= 0 then
        project.added = project.added or {}
        project.added[#project.added + 1] = clock() + ttl
        project.added[#project.added + 1] = member
      end
    end
  end
  replies[position] = excess
  admitted[position] = #excess == 0 and '1' or '0'
end
local bits = table.concat(admitted)
if number > 0 and string.find(bits, '1') then
  redis.call('HSET', receipts, 'last', ARGV[3], 'admitted', bits)
  redis.call('EXPIRE', receipts, ${RECEIPT_SECONDS})
end
for _, project in pairs(projects) do
  write(project)
  if project.added then redis.call('ZADD', project.reservations, unpack(project.added)) end
end
return replies`);

/**
 * Settles a batch of reservations. KEYS for each project: counters, reservations. ARGV: now, and a JSON list of [project index
 * from 0, member, 1 for commit or 0 for release, and each kind and amount]. Returns 1 for each reservation that was
 * settled, 0 for each unknown or expired one.
 */
export const SETTLE = createScript(`${countingFunctions}${batchFunctions}
for _, settlement in ipairs(batch) do
  local project = projectOf(settlement[1])
  project.counters, project.reservations = KEYS[settlement[1] * 2 + 1], KEYS[settlement[1] * 2 + 2]
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
    local alive = tonumber(expiry) > clock()
    for index = 4, #settlement, 2 do
      plan(project, 'r:' .. settlement[index], -settlement[index + 1])
      if alive and settlement[3] == 1 then plan(project, 'u:' .. settlement[index], settlement[index + 1]) end
    end
    if alive then replies[number] = 1 end
  end
end
for _, project in pairs(projects) do
  write(project)
  redis.call('ZREM', project.reservations, unpack(project.members))
end
return replies`);

/** Renews a reservation. KEYS: reservations. ARGV: now, member, ttlMs. Returns 1 if it was renewed. */
export const RENEW = createScript(`${countingFunctions}
local expiry = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not expiry or tonumber(expiry) <= clock() then return 0 end
redis.call('ZADD', KEYS[1], clock() + tonumber(ARGV[3]), ARGV[2])
return 1`);

/** Removes a project's expired reservations and returns the hash of its counters. KEYS: counters, reservations. */
export const COUNTS = createScript(`${countingFunctions}
expire(KEYS[1], KEYS[2])
return redis.call('HGETALL', KEYS[1])`);

const releaseFunction = `
local function release(counters, kind, amount)
  local field = 'u:' .. kind
  local used = tonumber(redis.call('HGET', counters, field) or 0)
  if used > tonumber(amount) then
    redis.call('HINCRBY', counters, field, '-' .. amount)
  else
    redis.call('HDEL', counters, field)
  end
end
`;

/** Releases used amounts. KEYS: counters. ARGV: now, then alternating kinds and amounts. */
export const RELEASE = createScript(`${releaseFunction}
for index = 2, #ARGV, 2 do release(KEYS[1], ARGV[index], ARGV[index + 1]) end`);

/**
 * Undoes a consume operation if it was executed, and otherwise prevents its later execution. Idempotent. KEYS: the
 * counters of each project, and receipts. ARGV: now, the operation number, and a JSON list of [project index from 0,
 * and each kind and amount] for its requests.
 */
export const UNDO = createScript(`${releaseFunction}
local number, receipts = tonumber(ARGV[2]), KEYS[#KEYS]
local last = tonumber(redis.call('HGET', receipts, 'last') or 0)
if last > number then return end
if last == number then
  local requests, admitted = cjson.decode(ARGV[3]), redis.call('HGET', receipts, 'admitted')
  for position, request in ipairs(requests) do
    -- The number is recorded for a single request only if the request was admitted.
    if #requests == 1 or string.sub(admitted, position, position) == '1' then
      for index = 2, #request, 2 do
        release(KEYS[request[1] + 1], request[index], string.format('%.0f', request[index + 1]))
      end
    end
  end
end
redis.call('HSET', receipts, 'last', '9007199254740991')
redis.call('EXPIRE', receipts, ${RECEIPT_SECONDS})`);

/**
 * Replaces the limits of a project. KEYS: limits, list, sequence. ARGV: now, project, then alternating kinds and
 * limits. A field with an empty name marks that the project has an entry.
 */
export const SET_LIMITS = createScript(`
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '', '', unpack(ARGV, 3))
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  redis.call('ZADD', KEYS[2], redis.call('INCR', KEYS[3]), ARGV[2])
end`);

/** Removes the limits of a project. KEYS: limits, list. ARGV: now, project. Returns 1 if the project had an entry. */
export const REMOVE_LIMITS = createScript(`
redis.call('ZREM', KEYS[2], ARGV[2])
return redis.call('DEL', KEYS[1])`);

/**
 * Lists the limits of projects. KEYS: list. ARGV: now, the key prefix of limits, offset, page size. Returns the total,
 * then alternating projects and hashes.
 */
export const LIST_LIMITS = createScript(`
local reply = { redis.call('ZCARD', KEYS[1]) }
local offset, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
if offset >= reply[1] or limit == 0 then return reply end
for _, project in ipairs(redis.call('ZRANGE', KEYS[1], offset, offset + math.min(limit, reply[1]) - 1)) do
  reply[#reply + 1] = project
  reply[#reply + 1] = redis.call('HGETALL', ARGV[2] .. project)
end
return reply`);
