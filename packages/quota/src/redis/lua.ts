import { createHash } from 'node:crypto';

/** A Lua script, and the SHA-1 digest under which Redis caches it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function createScript(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Lua functions for all scripts that change counters. ARGV[1] is the time in milliseconds, or empty to use the server's clock.
 *
 * The counters of a project are a hash with the fields `u:<kind>` (used) and `r:<kind>` (reserved); fields that are 0
 * are missing. Its reservations are a set of members `<id>|<kind>=<amount>,...`, sorted by expiry. The member contains
 * the amounts, so that they can be freed on expiry.
 */
export const countingFunctions = `
local now = tonumber(ARGV[1])
local function clock()
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return now
end
local function add(counters, field, amount)
  if redis.call('HINCRBY', counters, field, amount) == 0 then redis.call('HDEL', counters, field) end
end
local function expire(counters, reservations)
  local found = false
  while true do
    local members = redis.call('ZRANGEBYSCORE', reservations, '-inf', clock(), 'LIMIT', 0, 1000)
    if #members == 0 then return found end
    found = true
    for _, member in ipairs(members) do
      for kind, amount in string.gmatch(string.match(member, '|([^|]*)$'), '([^=,]+)=(%d+)') do
        add(counters, 'r:' .. kind, '-' .. amount)
      end
    end
    redis.call('ZREM', reservations, unpack(members))
  end
end
`;

/** Lua functions that compare amounts with limits. Sums that a double cannot represent exactly are rejected. */
export const limitFunctions = `
local function fits(limit, after)
  return after <= 9007199254740991 and (limit < 0 or after <= limit)
end
local function note(excess, kind, used, limit)
  excess[#excess + 1] = kind
  excess[#excess + 1] = string.format('%.0f', used)
  excess[#excess + 1] = string.format('%.0f', limit)
end
`;

/**
 * The lifetime of receipts, which is longer than the lifetimes of their lane and of messages in transit. The receipts
 * of a lane are a hash: `last` is the number of the last operation that consumed amounts; if that was a batch,
 * `admitted` is a string with a 1 for each admitted request.
 */
export const RECEIPT_SECONDS = 86_400;
