import { expect, it } from 'vitest';
import { closeInOrder } from './close-in-order.js';

it('continues after a step that fails, and rejects with the first error', async () => {
  const closed: string[] = [];
  const closing = closeInOrder(
    async () => closed.push('program'),
    async () => {
      throw new Error('first failure');
    },
    () => {
      throw new Error('second failure');
    },
    async () => closed.push('store'),
  );
  await expect(closing).rejects.toThrow('first failure');
  expect(closed).toEqual(['program', 'store']);
});
