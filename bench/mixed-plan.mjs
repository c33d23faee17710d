import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { sessions } = JSON.parse(readFileSync(join(import.meta.dirname, 'client-sessions.json'), 'utf8'));

/** The fraction of requests that write. */
const WRITES = 0.05;

/** How often each kind of read session occurs, relative to the others. */
const READERS = {
  'command line: list': 4,
  'command line: list long': 2,
  'command line: show by name': 4,
  'command line: show by id': 6,
  'command line: flavors': 1,
  'command line: key pairs': 1,
  'command line: limits': 1,
  'command line: actions': 1,
  'SDK: wait': 8,
  'SDK: refresh': 8,
  'dashboard: overview': 2,
  'dashboard: servers': 4,
  'dashboard: server': 4,
};

/** The actions on a server from its creation to its deletion, in this order. */
const LIFE = ['create', 'set metadata', 'attach volume', 'detach volume', 'stop', 'start', 'delete'].map(
  (name) => `command line: ${name}`,
);

/** Returns the steps of a session. @throws Error if the session was not recorded */
function stepsOf(name) {
  const steps = sessions[name];
  if (!steps?.length) throw new Error(`client-sessions.json has no session "${name}"`);
  return steps;
}

const readers = Object.entries(READERS).map(([name, weight]) => ({ weight, steps: stepsOf(name) }));
const lifecycle = LIFE.flatMap(stepsOf);
const isWrite = ({ method }) => method !== 'GET';

const total = (list, of) => list.reduce((sum, each) => sum + of(each), 0);
const weights = total(readers, ({ weight }) => weight);
const readsOfReader = total(readers, ({ weight, steps }) => (weight / weights) * steps.length);
const writesPerSession = lifecycle.filter(isWrite).length;
/** The fraction of sessions that create and delete a server, derived from the fraction of requests that write. */
const lifecycleShare = (WRITES * readsOfReader) / (writesPerSession - WRITES * (lifecycle.length - readsOfReader));
const requestsOfSession = lifecycleShare * lifecycle.length + (1 - lifecycleShare) * readsOfReader;

/**
 * Returns the time from which a latency is measured: the intended time of the request, or the time at which it is sent
 * if a timer has fired early, which timers do by up to a millisecond.
 */
export const measuredFrom = (intended, sent) => Math.min(intended, sent);

/** Returns pseudorandom numbers from 0 to 1, the same for the same seed (mulberry32). */
function numbersFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Generates the sessions of a load: independent users, whose sessions start at random times (exponential intervals).
 *
 * @param rate requests per second
 * @returns for each session its start in milliseconds, its steps, whether it is the lifecycle of a server, and a number from 0
 *   to 1 that selects its server
 */
export function* sessionsAt(rate, durationMs, seed) {
  const random = numbersFrom(seed);
  const perMs = rate / requestsOfSession / 1000;
  for (let at = 0; ; ) {
    at -= Math.log(1 - random()) / perMs;
    if (at >= durationMs) return;
    if (random() < lifecycleShare) yield { at, steps: lifecycle, isLifecycle: true, chosen: random() };
    else {
      let rest = random() * weights;
      const { steps } = readers.find(({ weight }) => (rest -= weight) < 0) ?? readers[0];
      yield { at, steps, isLifecycle: false, chosen: random() };
    }
  }
}
