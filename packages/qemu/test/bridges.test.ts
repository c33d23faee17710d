import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BridgeCloud, missingForBridges } from './bridge/bridge-cloud.js';
import { missingForGuests } from './guest/build-guest.js';
import { ada, NETWORK } from './qemu-cloud.js';

const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: networks of guests: this machine has no ${missing} ***\n`);

const { caller } = ada;
const addressOf = ({ interfaces }: Server) => interfaces[0]!.fixedIps[0]!.address;

describe.skipIf(missing)('networks of this computer', { timeout: 300_000 }, () => {
  let cloud: BridgeCloud;
  let first: Server;
  let second: Server;
  beforeAll(async () => {
    cloud = await new BridgeCloud().open();
    [first, second] = [await cloud.create('first', NETWORK), await cloud.create('second', NETWORK)];
  });
  afterAll(() => cloud.close());

  const ping = (address: string, more = '') => `ping -c 1 -W 2 ${more} ${address}`;
  /** Changes of networks take effect without anybody waiting for them. */
  const becomes = (wanted: boolean, server: Server, command: string) =>
    vi.waitFor(async () => expect(await cloud.succeeds(server, command)).toBe(wanted), {
      timeout: 60_000,
      interval: 200,
    });

  it('give guests their address, and let those of one group reach each other', async () => {
    const line = await cloud.line(first);
    expect(await line.run('ip -4 -o addr show dev eth0')).toContain(` ${addressOf(first)}/16`);
    await cloud.line(second);
    await becomes(true, first, ping(addressOf(second)));
  });

  it('stop them as soon as the rule is gone, and let them again when there is one', async () => {
    const groups = await cloud.network('listSecurityGroups')(caller, { name: 'default' });
    const rule = groups[0]!.rules.find(({ direction, ethertype }) => direction === 'ingress' && ethertype === 'IPv4')!;
    await cloud.network('deleteSecurityGroupRule')(caller, rule.id);
    await becomes(false, first, ping(addressOf(second)));
    await cloud.network('createSecurityGroupRule')(caller, {
      securityGroupId: groups[0]!.id,
      direction: 'ingress',
      protocol: 'icmp',
    });
    await becomes(true, first, ping(addressOf(second)));
  });
});
