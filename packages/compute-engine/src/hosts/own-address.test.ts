import type { NetworkInterfaceInfo } from 'node:os';
import { expect, it } from 'vitest';
import { ownAddress } from './own-address.js';

const one = (address: string, internal = false) =>
  ({ address, family: address.includes(':') ? 'IPv6' : 'IPv4', internal }) as NetworkInterfaceInfo;

it('is the first IPv4 address of this computer that is not a loopback address', () => {
  const lo = [one('127.0.0.1', true), one('::1', true)];
  const eth0 = [one('2001:db8::5'), one('192.0.2.5')];
  expect(ownAddress({ lo, eth0, eth1: [one('198.51.100.6')] })).toBe('192.0.2.5');
  expect(ownAddress({ lo, wlan0: undefined })).toBe('127.0.0.1');
});
