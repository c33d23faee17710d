import { createHash } from 'node:crypto';

/** A Lua script with the digest under which Redis caches it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Lua functions of all scripts that count. ARGV[1] is the time in ms, or empty for the clock of the server.
 *
 * Counters of a project are a hash: `u:<kind>` used, `r:<kind>` reserved; a field that is 0 is missing. Its
 * reservations are a sorted set of `<id>|<kind>=<amount>,...` by expiry, so that the member alone contains the amounts.
 */
export const counting = `
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
local function expire(counters, holds)
  local found = false
  while true do
    local gone = redis.call('ZRANGEBYSCORE', holds, '-inf', clock(), 'LIMIT', 0, 1000)
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

/** Returns whether an amount fits in a limit. Sums that a double cannot represent exactly never fit. */
export const fitting = `
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
 * Receipts of a lane are a hash: `last`, the number of the last operation that took an amount, and `admitted`, a string
 * with a 1 for each admitted request of that operation, if it was a batch. They outlive their lane and every message
 * that can still be in transit.
 */
export const RECEIPT_SECONDS = 86_400;
