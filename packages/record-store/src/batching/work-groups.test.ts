import { expect, it } from 'vitest';
import { type WaitingTransaction, WorkGroups } from './work-groups.js';

/** Adds one transaction per turn of the event loop. Resolves to the sizes of the groups after their commit. */
async function groupsOf(transactionCount: number): Promise<readonly number[]> {
  const sizes: number[] = [];
  const groups = new WorkGroups(async (group: readonly WaitingTransaction[]) => {
    sizes.push(group.length);
    for (const { resolve } of group) resolve(undefined);
  }, undefined);
  const done: Promise<unknown>[] = [];
  const arrive = () => {
    if (done.length + 1 < transactionCount) setImmediate(arrive);
    done.push(groups.add(async () => {}));
  };
  arrive();
  await new Promise<void>((resolve) => {
    const check = () => (done.length < transactionCount ? setImmediate(check) : resolve());
    check();
  });
  await Promise.all(done);
  return sizes;
}

it('commits transactions from consecutive turns of the event loop together', async () => {
  expect(await groupsOf(20)).toEqual([20]);
});

it('commits a group as soon as it is full', async () => {
  expect(await groupsOf(100)).toEqual([64, 36]);
});
