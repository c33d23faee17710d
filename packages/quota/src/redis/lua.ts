import { createHash } from 'node:crypto';

/** A Lua script and the name Redis knows it by once it has seen it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * What scripts share that count. ARGV[1] is the time in ms, or empty for the clock of the server.
 *
 * Counters of a project are a hash: `u:<kind>` used, `r:<kind>` reserved, left out where 0. Its reservations are a
 * sorted set: `<id>|<kind>=<amount>,...` by the time they expire, so that a member alone tells what it holds.
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

/** Whether an amount fits in a limit. What a double cannot count exactly fits nowhere. */
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
 * Receipts of a lane of acts that follow each other are a hash: `last`, the number of the last that took something, and
 * `admitted`, a 1 for each request of it that was, where it was a batch. They outlive their lane, and whatever could still
 * be on its way.
 */
export const RECEIPT_SECONDS = 86_400;
