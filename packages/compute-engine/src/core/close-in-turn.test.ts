import { expect, it } from 'vitest';
import { closeInTurn } from './close-in-turn.js';

it('closes what comes after something that cannot be closed, and tells of the first of those', async () => {
  const closed: string[] = [];
  const closing = closeInTurn(
    async () => closed.push('program'),
    async () => {
      throw new Error('the door jams');
    },
    () => {
      throw new Error('so does the driver');
    },
    async () => closed.push('store'),
  );
  await expect(closing).rejects.toThrow('the door jams');
  expect(closed).toEqual(['program', 'store']);
});
