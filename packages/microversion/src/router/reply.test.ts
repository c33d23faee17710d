import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Version } from '../version.js';
import { since } from '../windowed.js';
import { Reply } from './reply.js';
import { field, view } from './view.js';

interface Ship {
  readonly name: string;
  readonly speed: number;
  readonly lost: boolean;
}

const faded = view<Ship>({
  name: field(z.string(), (s) => s.name),
  state: field(z.literal('LOST'), () => 'LOST' as const),
});

const ship = view<Ship>(
  { name: field(z.string(), (s) => s.name), speed: field(z.number(), (s) => s.speed) },
  { instead: since('2.5', { when: (s) => s.lost, view: faded }) },
);

describe('a representation with another one for records of which less is known', () => {
  const reply = new Reply({ ships: [ship] });
  const ships = [
    { name: 'a', speed: 1, lost: false },
    { name: 'b', speed: 2, lost: true },
  ];
  const shown = (version: string) => JSON.parse(String(reply.render(Version.of(version))({ ships }, {})));

  it('chooses between the two for each record, from its version on', () => {
    expect(shown('2.5').ships).toEqual([
      { name: 'a', speed: 1 },
      { name: 'b', state: 'LOST' },
    ]);
    expect(shown('2.4').ships[1]).toEqual({ name: 'b', speed: 2 });
  });

  it('describes both in its schema, and only both', () => {
    const fits = (version: string) => reply.schema(Version.of(version)).safeParse(shown('2.5')).success;
    expect(fits('2.5')).toBe(true);
    expect(fits('2.4')).toBe(false);
    expect(reply.schema(Version.of('2.5')).safeParse({ ships: [{ name: 'a' }] }).success).toBe(false);
    expect(reply.breakpoints.map(String)).toEqual(['2.5']);
  });
});

describe('a page of a list', () => {
  it('is joined once as long as none of its items changes', () => {
    const memoised = view<Ship>({ name: field(z.string(), (s) => s.name) }, { memo: () => 'same for all' });
    const reply = new Reply({ ships: [memoised], next: z.string().optional() });
    const fleet: Ship[] = Array.from({ length: 40 }, (_, i) => ({ name: `ship é ${i}`, speed: i, lost: false }));
    const render = reply.render(Version.of('2.1'));
    const show = (ships: readonly Ship[], next?: string) => JSON.parse(String(render({ ships, next }, {})));
    const expected = { ships: fleet.map(({ name }) => ({ name })) };
    expect(show(fleet)).toEqual(expected);
    expect(show(fleet, 'more')).toEqual({ ...expected, next: 'more' });
    const changed = [...fleet.slice(0, 39), { ...fleet[39]!, name: 'other' }];
    expect(show(changed).ships[39]).toEqual({ name: 'other' });
    expect(show(fleet)).toEqual(expected);
    expect(show([])).toEqual({ ships: [] });
  });
});
