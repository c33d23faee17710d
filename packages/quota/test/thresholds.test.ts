import { memoryStore, projectQuotas, type ThresholdEvent } from '@apistrata/quota';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

/** Runs the checks of the changes so far, which a store in memory completes immediately. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

function watched(
  options: { readonly thresholds?: readonly number[]; readonly store?: ReturnType<typeof memoryStore> } = {},
) {
  const events: string[] = [];
  const onThreshold = ({ project, kind, threshold, used, limit }: ThresholdEvent) =>
    events.push(`${project} ${kind} ${threshold * 100} %: ${used} of ${limit}`);
  const quota = projectQuotas({
    store: memoryStore(),
    defaults: { invoices: 10, drafts: -1 },
    onThreshold,
    ...options,
  });
  return { quota, events };
}

describe('onThreshold', () => {
  it('reports 80 % and 100 % once each, when the amounts are committed', async () => {
    const { quota, events } = watched();
    await quota.consume('acme', { invoices: 7, drafts: 100 });
    const reservation = await quota.reserve('acme', { invoices: 1 });
    await settled();
    expect(events).toEqual([]);
    await reservation.commit();
    await settled();
    expect(events).toEqual(['acme invoices 80 %: 8 of 10']);
    await quota.consume('acme', { invoices: 1 });
    await quota.consume('acme', { invoices: 1 });
    await settled();
    expect(events).toEqual(['acme invoices 80 %: 8 of 10', 'acme invoices 100 %: 10 of 10']);
  });

  it('reports a threshold again after usage has fallen below it, and reports both for one large step', async () => {
    const { quota, events } = watched();
    await quota.consume('acme', { invoices: 10 });
    await settled();
    await quota.release('acme', { invoices: 5 });
    await settled();
    await quota.consume('acme', { invoices: 3 });
    await settled();
    expect(events.map((event) => event.split(':')[0])).toEqual([
      'acme invoices 80 %',
      'acme invoices 100 %',
      'acme invoices 80 %',
    ]);
  });

  it('does not repeat reports that another process sent before the start of this process', async () => {
    const store = memoryStore();
    await watched({ store }).quota.consume('acme', { invoices: 8 });
    const { quota, events } = watched({ store });
    await quota.consume('acme', { invoices: 1 });
    await settled();
    expect(events).toEqual([]);
  });

  it('reports nothing for a release in a process that has not read the usage before', async () => {
    const store = memoryStore();
    await watched({ store }).quota.consume('acme', { invoices: 10 });
    const { quota, events } = watched({ store });
    await quota.release('acme', { invoices: 2 });
    await settled();
    expect(events).toEqual([]);
  });

  it('reports the thresholds that recounts reach, once each in a process', async () => {
    const { quota, events } = watched();
    for (const used of [9, 9, 10]) {
      await quota.recount('acme', 'invoices', used);
      await settled();
    }
    expect(events).toEqual(['acme invoices 80 %: 9 of 10', 'acme invoices 100 %: 10 of 10']);
  });

  it('reports nothing for a release of a reservation, and follows recounts', async () => {
    const { quota, events } = watched({ thresholds: [0.5] });
    await (await quota.reserve('acme', { invoices: 9 })).release();
    await quota.recount('acme', 'invoices', 4);
    await settled();
    expect(events).toEqual([]);
    await quota.consume('acme', { invoices: 1 });
    await settled();
    expect(events).toEqual(['acme invoices 50 %: 5 of 10']);
  });

  it('logs an error of the listener as a warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const onThreshold = () => {
      throw new Error('mail server down');
    };
    const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 1 }, onThreshold });
    await quota.consume('acme', { invoices: 1 });
    await settled();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('mail server down'), {
      code: 'APISTRATA_QUOTA_THRESHOLDS',
    });
  });

  it.each([[[]], [[0]], [[1.2]], [[Number.NaN]]])('rejects the thresholds %j', (thresholds) => {
    expect(() => watched({ thresholds })).toThrow('thresholds must be numbers above 0');
  });
});
