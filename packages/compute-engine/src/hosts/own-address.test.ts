import { syncBuiltinESMExports } from 'node:module';
import os, { type NetworkInterfaceInfo } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { ownAddress } from './own-address.js';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const one = (address: string, internal = false) =>
  ({ address, family: address.includes(':') ? 'IPv6' : 'IPv4', internal }) as NetworkInterfaceInfo;

/** Returns the address of a computer with these network interfaces. */
function addressWith(interfaces: ReturnType<typeof os.networkInterfaces>): string {
  vi.spyOn(os, 'networkInterfaces').mockReturnValue(interfaces);
  syncBuiltinESMExports();
  return ownAddress();
}

it('is the first IPv4 address of this computer that is not a loopback address', () => {
  const lo = [one('127.0.0.1', true), one('::1', true)];
  const eth0 = [one('2001:db8::5'), one('192.0.2.5')];
  expect(addressWith({ lo, eth0, eth1: [one('198.51.100.6')] })).toBe('192.0.2.5');
  expect(addressWith({ lo, wlan0: undefined })).toBe('127.0.0.1');
});
