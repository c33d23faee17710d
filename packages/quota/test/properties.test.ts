import { memoryStore, projectQuotas, QuotaExceeded, type Reservation, ReservationEnded } from '@apistrata/quota';
import { sqlite, sqlStore } from '@apistrata/quota/sql';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, it } from 'vitest';

const KINDS = ['secrets', 'orders'] as const;
type Kind = (typeof KINDS)[number];

const kind = fc.constantFrom<Kind>(...KINDS);
const amount = fc.integer({ min: 0, max: 4 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('reserve'), secrets: amount, orders: amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('consume'), secrets: amount, orders: amount }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('commit'), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release'), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew'), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 1, max: 700 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('releaseUsed'), secrets: amount, orders: amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('set'), kind, limit: fc.integer({ min: -1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep') }) },
  // Reading removes expired reservations, so it must not happen after every step.
  { weight: 6, arbitrary: fc.record({ do: fc.constant('look') }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const DEFAULTS = { secrets: 6, orders: 9 };
const TTL_MS = 1000;

/** A simple model of the correct state: every reservation with its expiry, and the used amounts. */
interface Model {
  readonly used: Record<Kind, number>;
  readonly limits: Record<Kind, number>;
  readonly reservations: Map<Reservation, number>;
}

async function walk(steps: readonly Step[], store: 'memory' | 'sqlite'): Promise<void> {
  let now = 1_000_000;
  const clock = () => now;
  const database = sqlite(new Database(':memory:'));
  const sql = sqlStore({ database, clock });
  await sql.createSchema();
  const quota = projectQuotas({
    preset: 'key-manager',
    store: store === 'memory' ? memoryStore({ clock }) : sql,
    kinds: KINDS,
    defaults: DEFAULTS,
    ttlMs: TTL_MS,
    sweepIntervalMs: 0,
  });
  const created: Reservation[] = [];
  const model: Model = { used: { secrets: 0, orders: 0 }, limits: { ...DEFAULTS }, reservations: new Map() };

  const isAlive = (reservation: Reservation) => (model.reservations.get(reservation) ?? 0) > now;
  const inUse = (of: Kind) =>
    model.used[of] +
    [...model.reservations.keys()].filter(isAlive).reduce((sum, { amounts }) => sum + (amounts[of] ?? 0), 0);
  const fits = (expected: Record<Kind, number>) =>
    KINDS.every((k) => expected[k] === 0 || model.limits[k] < 0 || inUse(k) + expected[k] <= model.limits[k]);
  const rejected = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => undefined,
      (reason) => reason,
    );
    if (error && !(error instanceof QuotaExceeded || error instanceof ReservationEnded)) throw error;
    return error !== undefined;
  };
  const agree = (what: string, actual: unknown, expected: unknown) => {
    if (actual !== expected) throw new Error(`${what}: store says ${actual}, model says ${expected}`);
  };

  const actions: Record<string, (step: any) => Promise<void>> = {
    async reserve({ secrets, orders }) {
      const fitting = fits({ secrets, orders });
      const call = quota.reserve('p', { secrets, orders });
      agree('reserve rejected', await rejected(call), !fitting);
      if (!fitting) return;
      created.push(await call);
      model.reservations.set(await call, now + TTL_MS);
    },
    async consume({ secrets, orders }) {
      const fitting = fits({ secrets, orders });
      agree('consume rejected', await rejected(quota.consume('p', { secrets, orders })), !fitting);
      if (fitting) for (const k of KINDS) model.used[k] += { secrets, orders }[k];
    },
    async commit({ which }) {
      const reservation = created[which % created.length];
      if (!reservation) return;
      const empty = Object.keys(reservation.amounts).length === 0;
      const isActive = reservation.open && (empty || isAlive(reservation));
      const again = !reservation.open && !(await rejected(reservation.commit()));
      if (!again) agree('commit rejected', await rejected(reservation.commit()), !isActive);
      if (isActive) for (const k of KINDS) model.used[k] += reservation.amounts[k] ?? 0;
      model.reservations.delete(reservation);
    },
    async release({ which }) {
      const reservation = created[which % created.length];
      await reservation?.release();
      if (reservation) model.reservations.delete(reservation);
    },
    async renew({ which }) {
      const reservation = created[which % created.length];
      if (!reservation || Object.keys(reservation.amounts).length === 0) return;
      const isActive = isAlive(reservation);
      agree('renew rejected', await rejected(reservation.renew()), !isActive);
      if (isActive) model.reservations.set(reservation, now + TTL_MS);
    },
    async wait({ ms }) {
      now += ms;
    },
    async releaseUsed({ secrets, orders }) {
      await quota.release('p', { secrets, orders });
      for (const k of KINDS) model.used[k] = Math.max(0, model.used[k] - { secrets, orders }[k]);
    },
    async set({ kind: of, limit }: { kind: Kind; limit: number }) {
      await quota.set('p', { [of]: limit });
      Object.assign(model.limits, DEFAULTS, { [of]: limit });
    },
    async remove() {
      await quota.remove('p');
      Object.assign(model.limits, DEFAULTS);
    },
    async sweep() {
      await quota.sweep();
    },
    async look() {
      const usage = await quota.usage('p');
      for (const k of KINDS) {
        const { used, reserved } = usage[k]!;
        agree(`used of ${k}`, used, model.used[k]);
        agree(`in use of ${k}`, used + reserved, inUse(k));
        if (used < 0 || reserved < 0) throw new Error(`${k} went below 0`);
      }
    },
  };

  const lowered = new Set<Kind>();
  for (const one of steps) {
    const before = { ...model.limits };
    await actions[one.do]!(one);
    for (const k of KINDS) {
      const limit = model.limits[k];
      if (limit >= 0 && (before[k] < 0 || limit < before[k])) lowered.add(k);
      if (limit < 0 || inUse(k) <= limit) lowered.delete(k);
      if (limit >= 0 && !lowered.has(k) && inUse(k) > limit) throw new Error(`${k} exceeds its limit`);
    }
  }
  await actions.look!(undefined);
}

describe('any interleaving of reserve, consume, commit, release, renewal, expiry, set and remove', () => {
  it.each([
    ['memory', 300],
    ['sqlite', 100],
  ] as const)(
    'agrees with a simple model and never exceeds a limit that was not lowered (%s)',
    async (store, numRuns) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => walk(steps, store)),
        { numRuns },
      );
    },
  );
});
