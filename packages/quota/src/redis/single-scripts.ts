import { countingFunctions, createScript, limitFunctions, RECEIPT_SECONDS } from './lua.js';

// Scripts for a single request, the usual case without load. The values of the request are plain arguments, and rarely
// used functions are defined only where they are needed.

/**
 * Lua functions for alternating kinds, amounts and default limits in ARGV. `exceeded` returns the kinds that exceed
 * their limit, or nil if none does. KEYS: counters, limits.
 */
const excessFunctions = `
local function exceeded(first)
  local excess
  for index = first, #ARGV, 3 do
    local kind = ARGV[index]
    local counts = redis.call('HMGET', KEYS[1], 'u:' .. kind, 'r:' .. kind)
    local used = (counts[1] or 0) + (counts[2] or 0)
    local limit = tonumber(redis.call('HGET', KEYS[2], kind) or ARGV[index + 2])
    if not fits(limit, used + ARGV[index + 1]) then
      excess = excess or {}
      note(excess, kind, used, limit)
    end
  end
  return excess
end
local function count(column, first)
  for index = first, #ARGV, 3 do redis.call('HINCRBY', KEYS[1], column .. ARGV[index], ARGV[index + 1]) end
end
`;

/**
 * Reserves amounts. KEYS: counters, limits, reservations. ARGV: now, member, ttlMs, then alternating kinds, amounts and default limits.
 * Returns kind, used and limit of the kinds that exceed their limit.
 */
export const RESERVE_ONE = createScript(`${limitFunctions}${excessFunctions}${countingFunctions}
local excess = exceeded(4)
if excess then
  -- A client that lost its connection repeats requests without a response. They must not be executed twice.
  if redis.call('ZSCORE', KEYS[3], ARGV[2]) then return {} end
  if expire(KEYS[1], KEYS[3]) then excess = exceeded(4) end
  if excess then return excess end
end
if redis.call('ZADD', KEYS[3], 'NX', clock() + ARGV[3], ARGV[2]) == 1 then count('r:', 4) end
return {}`);

/**
 * Consumes amounts. KEYS: counters, limits, reservations, receipts. ARGV: now, the operation number, then alternating kinds, amounts
 * and default limits. Returns the same as RESERVE_ONE; fails if the operation has been undone.
 */
export const CONSUME_ONE = createScript(`${limitFunctions}${excessFunctions}
local number, excess = tonumber(ARGV[2]), exceeded(3)
if excess then
  if redis.call('HGET', KEYS[4], 'last') == ARGV[2] then return {} end
${countingFunctions}
  if expire(KEYS[1], KEYS[3]) then excess = exceeded(3) end
  if excess then return excess end
end
local reached = redis.call('HINCRBY', KEYS[4], 'last', 1)
if reached ~= number then
  redis.call('HINCRBY', KEYS[4], 'last', -1)
  -- The client has repeated the request.
  if reached == number + 1 then return {} end
  return redis.error_reply('UNDONE')
end
if number == 1 then redis.call('EXPIRE', KEYS[4], ${RECEIPT_SECONDS}) end
count('u:', 3)
return {}`);

/**
 * Settles a reservation. KEYS: counters, reservations. ARGV: now, member, 1 for commit or 0 for release, then alternating kinds and
 * amounts. Returns 1 if the reservation was settled.
 */
export const SETTLE_ONE = createScript(`${countingFunctions}
local expiry = redis.call('ZSCORE', KEYS[2], ARGV[2])
if not expiry then return 0 end
redis.call('ZREM', KEYS[2], ARGV[2])
local alive = tonumber(expiry) > clock()
for index = 4, #ARGV, 2 do
  add(KEYS[1], 'r:' .. ARGV[index], '-' .. ARGV[index + 1])
  if alive and ARGV[3] == '1' then redis.call('HINCRBY', KEYS[1], 'u:' .. ARGV[index], ARGV[index + 1]) end
end
return alive and 1 or 0`);
