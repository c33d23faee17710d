// The time to create one request id, compared with hyperid and with Node's own UUIDs. No requests are sent: in a
// server, the id is a small part of the cost of a request, which the section `microversion` measures.
import { randomUUID } from 'node:crypto';
import hyperid from 'hyperid';
import { GENERATORS } from '../packages/request-id/dist/generators.js';
import { interleaved } from './samples.mjs';

const FULL = { rounds: 9, ids: 2_000_000 };
const QUICK = { rounds: 2, ids: 50_000 };
const NS_PER_MS = 1e6;

/** Nanoseconds per id. */
function nsPerId(generate, ids) {
  let length = 0;
  const begun = performance.now();
  // V8 flattens a concatenated string only when its characters are read, for example to write a header or a log.
  for (let i = 0; i < ids; i++) length += Buffer.byteLength(generate());
  const elapsed = performance.now() - begun;
  if (length === 0) throw new Error('no ids');
  return (elapsed * NS_PER_MS) / ids;
}

export async function run({ quick }) {
  const { rounds, ids } = quick ? QUICK : FULL;
  const generators = { hyperid: hyperid(), urlSafe: hyperid({ urlSafe: true }), randomUUID, ...GENERATORS };
  const names = Object.keys(generators);
  for (const name of names) nsPerId(generators[name], ids / 10);
  const samples = await interleaved(rounds, ...names.map((name) => () => nsPerId(generators[name], ids)));
  const found = Object.fromEntries(names.map((name, index) => [name, samples[index]]));
  const row = (what, ours, baseline, budget) => ({ what, ours, baseline, unit: 'ns', budget });
  return [
    row('a short id, and hyperid', found.short, found.hyperid, '<= 1.5 x'),
    row('a short id, and hyperid with urlSafe', found.short, found.urlSafe),
    row('a UUID, and randomUUID()', found.uuid, found.randomUUID),
    row('a UUIDv7, and randomUUID()', found.uuidv7, found.randomUUID),
  ];
}
