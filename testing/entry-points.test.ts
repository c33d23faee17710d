import { beforeAll, describe, expect, it } from 'vitest';
import { compilerErrorsOf, type EntryPoint, entryPointsText, examplesOf, publicEntryPoints } from './entry-points.js';

describe('the entry points of the packages', () => {
  let entryPoints: readonly EntryPoint[] = [];
  beforeAll(() => {
    entryPoints = publicEntryPoints();
  }, 300_000);

  // Each new name is a commitment. `npx vitest run testing/entry-points.test.ts -u` records new names, and the diff
  // shows them.
  it('export the names that entry-points.txt lists', async () => {
    await expect(entryPointsText(entryPoints)).toMatchFileSnapshot('entry-points.txt');
  });

  it('export only documented names', () => {
    const bare = entryPoints.flatMap(({ id, names }) =>
      names.filter(({ documented }) => !documented).map(({ name }) => `${id}: ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('have an example', () => {
    expect(
      entryPoints.filter(({ names }) => !names.some(({ examples }) => examples.length > 0)).map(({ id }) => id),
    ).toEqual([]);
  });

  it('export at most 60 names from the main entry of the engine; parts for APIs and presets have their own entries', () => {
    const main = entryPoints.find(({ id }) => id === '@apistrata/compute-engine');
    expect(main?.names.length).toBeLessThanOrEqual(60);
  });

  it('have examples that compile', () => {
    const broken = { file: `${import.meta.dirname}/broken.ts`, text: 'export const one: number = "one";' };
    const messages = compilerErrorsOf([...examplesOf(entryPoints), broken]);
    expect(messages).toEqual([expect.stringContaining('broken.ts: ')]);
  }, 300_000);
});
