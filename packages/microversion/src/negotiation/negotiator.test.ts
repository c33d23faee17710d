import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Negotiation, type NegotiatorOptions, negotiator } from './negotiator.js';

const compute = { service: 'compute', min: '2.1', max: '2.100' } as const;
const TYPED = 'service-api-version';
const BARE = 'x-service-api-version';

/** The version, or the status and the invalid text. */
function outcome(negotiation: Negotiation): string {
  if (negotiation.ok) return negotiation.version.text;
  const { error } = negotiation;
  return error.code === 'UNACCEPTABLE_VERSION' ? `406 ${error.version}` : `400 ${error.text}`;
}

function result(headers: Record<string, string | string[]>, options: Partial<NegotiatorOptions> = {}): string {
  return outcome(negotiator({ ...compute, ...options })(headers as any));
}

describe('the typed header', () => {
  it.each([
    ['compute 2.27', '2.27'],
    ['COMPUTE 2.27', '2.27'],
    ['compute \t 2.27', '2.27'],
    ['  compute 2.27  ', '2.27'],
    ['compute 2.1, volume 3.0', '2.1'],
    ['compute 2.1, compute 2.2', '2.2'],
    ['compute 2.5, compute', '2.5'],
    ['compute 2.5, 2.6', '2.5'],
    ['compute 2.5,,', '2.5'],
    ['volume 3.0', '2.1'],
    ['2.27', '2.1'],
    ['compute', '2.1'],
    ['compute2.27', '2.1'],
    ['computer 2.27', '2.1'],
    ['', '2.1'],
    [',', '2.1'],
    ['compute latest', '2.100'],
    ['compute Latest', '400 Latest'],
    ['compute 2.2 2.3', '400 2.2 2.3'],
    ['compute 2.2, compute nonsense', '400 nonsense'],
    ['compute 2.101', '406 2.101'],
  ])('%j selects %s', (value, expected) => {
    expect(result({ [TYPED]: value })).toBe(expected);
  });

  it('takes precedence over the bare one, whether valid or not', () => {
    expect(result({ [TYPED]: 'compute 2.5', [BARE]: '2.9' })).toBe('2.5');
    expect(result({ [TYPED]: 'compute x', [BARE]: '2.9' })).toBe('400 x');
    expect(result({ [TYPED]: 'compute 3.0', [BARE]: '2.9' })).toBe('406 3.0');
  });

  it('is ignored if it has no entry for this service', () => {
    expect(result({ [TYPED]: 'volume 3.0', [BARE]: '2.9' })).toBe('2.9');
    expect(result({ [TYPED]: '2.5', [BARE]: '2.9' })).toBe('2.9');
    expect(result({ [TYPED]: '', [BARE]: 'x' })).toBe('400 x');
  });
});

describe('the bare header', () => {
  it.each([
    ['2.27', '2.27'],
    ['2.1, 2.9', '2.9'],
    ['nonsense, 2.9', '2.9'],
    ['2.9,', '400 '],
    ['', '400 '],
    ['  ', '400 '],
    ['compute 2.9', '400 compute 2.9'],
    ['latest', '2.100'],
  ])('%j selects %s', (value, expected) => {
    expect(result({ [BARE]: value })).toBe(expected);
  });
});

describe('a request without a version header', () => {
  it('selects the lowest version', () => {
    expect(result({})).toBe('2.1');
  });
});

describe('a version', () => {
  it.each(['2.1', '2.9', '2.10', '2.99', '2.100'])('%s is served', (version) => {
    expect(result({ [BARE]: version })).toBe(version);
  });

  it.each(['1.0', '1.99', '2.0', '2.101', '3.0', '3.50', `2.${'9'.repeat(300)}`, `${'1'.repeat(300)}.0`])(
    '%s is rejected with 406, and the error has the same digits',
    (version) => {
      expect(result({ [BARE]: version })).toBe(`406 ${version}`);
    },
  );

  it.each(['2', '2.', '.1', '2.1.1', '02.1', '2.01', '2.00', '0.1', '+2.1', '-2.1', '2. 1', '2 .1', '2,1x', 'LATEST'])(
    '%s is rejected with 400',
    (version) => {
      expect(result({ [TYPED]: `compute ${version}` })).toMatch(/^400 /);
      expect(result({ [BARE]: version })).toMatch(/^400 /);
    },
  );

  it('returns the same result for repeated requests', () => {
    const negotiate = negotiator(compute);
    for (const value of ['compute 2.27', 'compute 2.999', 'compute x', 'volume 2.3']) {
      const once = outcome(negotiate({ [TYPED]: value }));
      expect(outcome(negotiate({ [TYPED]: value }))).toBe(once);
      const bare = outcome(negotiate({ [BARE]: value }));
      expect(outcome(negotiate({ [BARE]: value }))).toBe(bare);
    }
  });

  it('is parsed correctly after any number of different strings', () => {
    const negotiate = negotiator(compute);
    for (let i = 0; i < 5000; i++) {
      const version = `2.${(i % 100) + 1}`;
      expect(outcome(negotiate({ [TYPED]: `x${i} 1.0,compute ${version}` }))).toBe(version);
    }
  });
});

/** Returns the expected outcome, from a naive implementation of the same rules. */
function expectedOf(typedHeader: string | undefined, bareHeader: string | undefined): string {
  const words = (typedHeader ?? '').split(',').map((item) => item.trim().split(/[ \t]+/));
  const ours = words.filter(([type, ...rest]) => type!.toLowerCase() === 'compute' && rest.length > 0).at(-1);
  const text = ours ? ours.slice(1).join(' ') : bareHeader?.split(',').at(-1)?.trim();
  if (text === undefined) return '2.1';
  if (text === 'latest') return '2.100';
  if (!/^[1-9][0-9]*\.(0|[1-9][0-9]*)$/.test(text)) return `400 ${text}`;
  const [major, minor] = text.split('.').map(BigInt) as [bigint, bigint];
  return major === 2n && minor >= 1n && minor <= 100n ? text : `406 ${text}`;
}

describe('any pair of headers', () => {
  const word = fc.constantFrom(
    'compute',
    'Compute',
    'volume',
    '2.1',
    '2.50',
    '2.100',
    '2.101',
    '2.0',
    '02.1',
    'latest',
  );
  const glue = fc.constantFrom(' ', ',', ', ', ' ,', '\t', '.', '');
  const header = fc.option(
    fc.array(fc.tuple(word, glue), { maxLength: 5 }).map((parts) => parts.flat().join('')),
    { nil: undefined },
  );
  const negotiate = negotiator(compute);

  it('selects the version that the rules define', () => {
    fc.assert(
      fc.property(header, header, (typedHeader, bareHeader) => {
        const headers = {
          ...(typedHeader !== undefined && { [TYPED]: typedHeader }),
          ...(bareHeader !== undefined && { [BARE]: bareHeader }),
        };
        // How many spaces a malformed version contains is irrelevant here.
        const plain = (text: string) => text.replace(/[ \t]+/g, ' ');
        expect(plain(outcome(negotiate(headers)))).toBe(expectedOf(typedHeader, bareHeader).replace(/[ \t]+/g, ' '));
      }),
      { numRuns: 3000 },
    );
  });

  it('has a result for random strings, which depends only on the bare header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, two) => {
        expect(outcome(negotiate({ [TYPED]: one, [BARE]: two }))).toBe(outcome(negotiate({ [BARE]: two })));
      }),
    );
  });
});

describe('header names', () => {
  const openstack = { 'openstack-api-version': 'compute 2.7', 'x-openstack-nova-api-version': '2.8' };

  it('equal those of the API reference by default', () => {
    expect(result(openstack)).toBe('2.1');
    expect(result({ [TYPED]: 'compute 2.7' })).toBe('2.7');
  });

  it('can be those that existing clients send', () => {
    expect(result(openstack, { headers: 'openstack' })).toBe('2.7');
    expect(result({ 'x-openstack-nova-api-version': '2.8' }, { headers: 'openstack' })).toBe('2.8');
    expect(result({ [TYPED]: 'compute 2.9' }, { headers: 'openstack' })).toBe('2.1');
  });

  it('can be both families: all typed headers take precedence over all bare ones', () => {
    const headers = 'both';
    expect(result({ ...openstack, [BARE]: '2.9' }, { headers })).toBe('2.7');
    expect(result({ ...openstack, [TYPED]: 'compute 2.9' }, { headers })).toBe('2.9');
    expect(result({ ...openstack, [TYPED]: 'volume 2.9' }, { headers })).toBe('2.7');
    expect(result({ 'x-openstack-nova-api-version': '2.8', [BARE]: '2.9' }, { headers })).toBe('2.9');
    expect(result({ 'x-openstack-nova-api-version': '2.8' }, { headers })).toBe('2.8');
  });

  it('can be custom names', () => {
    const headers = { bare: ['My-Version'] };
    expect(result({ 'my-version': '2.44' }, { headers })).toBe('2.44');
    expect(result({ [BARE]: '2.44' }, { headers })).toBe('2.1');
  });
});

describe('the generic header style', () => {
  const options = { headerStyle: 'generic', service: 'key-manager', min: '1.0', max: '1.1' } as const;

  it.each([
    ['1.1', '1.1'],
    ['01.01', '1.1'],
    ['1 . 1', '1.1'],
    ['1. 1', '1.1'],
    ['+1.+1', '1.1'],
    ['1.00', '1.0'],
    ['latest', '1.1'],
    ['1.2', '406 1.2'],
    ['1.02', '406 1.2'],
    ['0.9', '406 0.9'],
    ['00.0', '406 0.0'],
    ['-1.1', '406 -1.1'],
    ['1.-01', '406 1.-1'],
    ['1.-0', '1.0'],
    ['1_0.1', '406 10.1'],
    ['--1.1', '400 --1.1'],
    ['- 1.1', '400 - 1.1'],
    ['_1.1', '400 _1.1'],
    ['1__0.1', '400 1__0.1'],
    ['1', '400 1'],
    ['1.0.0', '400 1.0.0'],
    ['one', '400 one'],
    ['LATEST', '400 LATEST'],
  ])('reads %j as %s', (value, expected) => {
    expect(result({ [TYPED]: `key-manager ${value}` }, options)).toBe(expected);
  });

  it('ignores the bare header', () => {
    expect(result({ [BARE]: 'nonsense' }, options)).toBe('1.0');
  });
});

describe('a pinned version', () => {
  it('is served regardless of headers', () => {
    expect(result({ [TYPED]: 'compute nonsense', [BARE]: '9.9' }, { pinned: '2.1' })).toBe('2.1');
  });
});

describe('an invalid option', () => {
  it.each([
    [{ ...compute, mim: '2.1' }, /unknown option 'mim' \(known: service, min, max/],
    [{ ...compute, min: '2.200' }, /min 2\.200 is above max 2\.100/],
    [{ ...compute, max: 'two' }, /MAJOR\.MINOR/],
    [{ ...compute, service: 'my service' }, /one word/],
    [{ ...compute, service: 'a,b' }, /one word/],
    [{ ...compute, headers: 'nova' }, /unknown header preset 'nova' \(known: service, openstack, both\)/],
    [{ ...compute, headers: { typed: ['a b'] } }, /a b/],
    [{ ...compute, headers: {} }, /at least one header/],
    [{ ...compute, headers: { new: ['X'] } }, /unknown kind of header 'new'/],
    [{ ...compute, headerStyle: 'lenient' }, /headerStyle must be 'strict' or 'generic', not 'lenient'/],
  ])('%j is rejected immediately', (options, message) => {
    expect(() => negotiator(options as any)).toThrow(message);
  });
});
