import { beforeAll, describe, expect, it } from 'vitest';
import { complaintsAbout, type Door, doorsText, examplesOf, publicDoors } from './doors.js';

describe('the doors of the packages', () => {
  let doors: readonly Door[] = [];
  beforeAll(() => {
    doors = publicDoors();
  }, 300_000);

  // A new name is a promise: `npx vitest run testing/doors.test.ts -u` makes it, and the diff shows which.
  it('give the names that doors.txt lists', async () => {
    await expect(doorsText(doors)).toMatchFileSnapshot('doors.txt');
  });

  it('give nothing that is not documented', () => {
    const bare = doors.flatMap(({ id, names }) =>
      names.filter(({ documented }) => !documented).map(({ name }) => `${id}: ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('show by an example what they are for', () => {
    expect(doors.filter(({ names }) => !names.some(({ examples }) => examples.length > 0)).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('show examples that compile', () => {
    const broken = { file: `${import.meta.dirname}/broken.ts`, text: 'export const one: number = "one";' };
    const complaints = complaintsAbout([...examplesOf(doors), broken]);
    expect(complaints).toEqual([expect.stringContaining('broken.ts: ')]);
  }, 300_000);
});
