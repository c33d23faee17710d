import { since, Version } from '@apistrata/microversion';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { Reply } from './reply.js';
import { field, view } from './view.js';

interface Ship {
  readonly name: string;
  readonly speed: number;
  readonly lost: boolean;
}

const incompleteView = view<Ship>({
  name: field(z.string(), (s) => s.name),
  state: field(z.literal('LOST'), () => 'LOST' as const),
});

const ship = view<Ship>(
  { name: field(z.string(), (s) => s.name), speed: field(z.number(), (s) => s.speed) },
  { alternative: since('2.5', { when: (s) => s.lost, view: incompleteView }) },
);

describe('a view with an alternative for incomplete records', () => {
  const reply = new Reply({ ships: [ship] });
  const ships = [
    { name: 'a', speed: 1, lost: false },
    { name: 'b', speed: 2, lost: true },
  ];
  const shown = (version: string) => JSON.parse(String(reply.render(Version.of(version))({ ships }, {})));

  it('renders each record with the view or, at versions that have it, the alternative', () => {
    expect(shown('2.5').ships).toEqual([
      { name: 'a', speed: 1 },
      { name: 'b', state: 'LOST' },
    ]);
    expect(shown('2.4').ships[1]).toEqual({ name: 'b', speed: 2 });
  });

  it('has a schema that accepts only records of these two views', () => {
    const fits = (version: string) => reply.schema(Version.of(version)).safeParse(shown('2.5')).success;
    expect(fits('2.5')).toBe(true);
    expect(fits('2.4')).toBe(false);
    expect(reply.schema(Version.of('2.5')).safeParse({ ships: [{ name: 'a' }] }).success).toBe(false);
    expect(reply.breakpoints.map(String)).toEqual(['2.5']);
  });
});

describe('a page of a list', () => {
  it('contains its current items, although pages are cached', async () => {
    const cached = view<Ship>({ name: field(z.string(), (s) => s.name) }, { cacheKey: () => 'same for all' });
    const reply = new Reply({ ships: [cached], next: z.string().optional() });
    const fleet: Ship[] = Array.from({ length: 40 }, (_, i) => ({ name: `ship é ${i}`, speed: i, lost: false }));
    const render = reply.render(Version.of('2.1'));
    const show = async (ships: readonly Ship[], next?: string) => JSON.parse(String(await render({ ships, next }, {})));
    const expected = { ships: fleet.map(({ name }) => ({ name })) };
    expect(await show(fleet)).toEqual(expected);
    expect(await show(fleet, 'more')).toEqual({ ...expected, next: 'more' });
    const changed = [...fleet.slice(0, 39), { ...fleet[39]!, name: 'other' }];
    expect((await show(changed)).ships[39]).toEqual({ name: 'other' });
    expect(await show(fleet)).toEqual(expected);
    expect(await show([])).toEqual({ ships: [] });
  });
});

describe('a long page', () => {
  afterEach(() => vi.restoreAllMocks());

  /** Returns a renderer with a fake clock, which each item advances by a millisecond. */
  function slowly(seen: (name: string) => void = () => {}) {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const slow = view<Ship>({
      name: field(z.string(), ({ name }) => {
        now++;
        seen(name);
        return name;
      }),
    });
    return new Reply({ ships: [slow], next: z.string().optional() }).render(Version.of('2.1'));
  }
  const fleet = (length: number, name = 'ship') =>
    Array.from({ length }, (_, i): Ship => ({ name: `${name} é ${i}`, speed: i, lost: false }));
  const textOf = (ships: readonly Ship[], next?: string) =>
    JSON.stringify({ ships: ships.map(({ name }) => ({ name })), next });

  it('is rendered in slices that yield to other work', async () => {
    const between = { turns: 0, ended: false };
    const count = () => {
      between.turns++;
      if (!between.ended) setImmediate(count);
    };
    const ships = fleet(400);
    const rendering = slowly()({ ships, next: 'more' }, {});
    expect(rendering).toBeInstanceOf(Promise);
    setImmediate(count);
    expect(String(await rendering)).toBe(textOf(ships, 'more'));
    between.ended = true;
    expect(between.turns).toBeGreaterThanOrEqual(40);
  });

  it('alternates with other pages that are rendered concurrently', async () => {
    const renderedShips: string[] = [];
    const render = slowly((name) => renderedShips.push(name.split(' ')[0]!));
    const pages = ['a', 'b', 'c'].map((name) => render({ ships: fleet(40, name) }, {}));
    renderedShips.length = 0;
    const turns: string[][] = [];
    let ended = false;
    const look = () => {
      if (renderedShips.length > 0) turns.push(renderedShips.splice(0));
      if (!ended) setImmediate(look);
    };
    setImmediate(look);
    const texts = await Promise.all(pages);
    ended = true;
    expect(texts.map(String)).toEqual(['a', 'b', 'c'].map((name) => textOf(fleet(40, name))));
    expect(turns.map((turn) => new Set(turn).size)).toEqual(turns.map(() => 1));
    expect(turns[0]).not.toEqual(turns[1]);
  });

  it('is not sent if one of its items cannot be rendered, even in a later slice', async () => {
    const render = slowly((name) => {
      if (name.endsWith(' 30')) throw new Error('unknown ship');
    });
    await expect(render({ ships: fleet(40) }, {})).rejects.toThrow('unknown ship');
  });

  it('has the same bytes if it is requested again', () => {
    const quick = new Reply({ ships: [ship], next: z.string().optional() }).render(Version.of('2.1'));
    // With the real clock, a page could take several ticks on a busy machine.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const ships = fleet(40);
    const first = quick({ ships, next: 'more' }, {});
    expect(first).toBeInstanceOf(Buffer);
    expect(quick({ ships: [...ships], next: 'more' }, {})).toBe(first);
    const other = quick({ ships, next: 'other' }, {});
    expect([String(first), String(other)].map((text) => JSON.parse(text).next)).toEqual(['more', 'other']);
    expect(quick({ ships, next: 'more' }, {})).toBe(first);
  });

  it('is rendered synchronously if one slice is sufficient', () => {
    const quick = new Reply({ ships: [ship] }).render(Version.of('2.1'));
    vi.spyOn(performance, 'now').mockReturnValue(0);
    expect(quick({ ships: fleet(90) }, {})).toBeInstanceOf(Buffer);
  });
});
