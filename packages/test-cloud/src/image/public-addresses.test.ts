import { expect, it } from 'vitest';
import { isPublic, publicLookup } from './public-addresses.js';

it.each(['9.9.9.9', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
  '%s is public',
  (address) => {
    expect(isPublic(address)).toBe(true);
  },
);

it.each([
  ...[
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ],
  ...['224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1', 'fd00::1', 'ff02::1', '::ffff:127.0.0.1', '::127.0.0.1'],
  ...['64:ff9b::7f00:1', '2002:7f00:1::'],
])('%s is not public', (address) => {
  expect(isPublic(address)).toBe(false);
});

it.each([true, false])('rejects host names that resolve to this computer (all: %s)', async (all) => {
  const error = await new Promise((done) => publicLookup('localhost', { all }, (error) => done(error)));
  expect(String(error)).toMatch(/localhost has the address (127\.0\.0\.1|::1), which is not public/);
});
