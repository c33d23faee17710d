import { runProgram } from '../programs/run-program.js';
import type { DesiredLink } from './desired-link.js';
import { linkCommands } from './desired-links.js';
import { type DeviceNames, deriveMac } from './device-names.js';
import type { IpTool } from './ip-tool.js';

const PROBE_NAME = 'probe';
const MTU = 1500;

/**
 * Checks that networks can be built, by creating and removing the kernel objects that a network needs: a namespace, a
 * bridge, a TAP device, a device pair and an nftables table. The next build removes the
 * objects of a killed probe.
 *
 * @throws QemuError `PROGRAM_FAILED`
 */
export async function probeNetworks(ip: IpTool, names: DeviceNames, nft: string): Promise<void> {
  const bridge = names.bridge(PROBE_NAME);
  const service = names.service(PROBE_NAME);
  const tap = names.tap(PROBE_NAME);
  const links: readonly DesiredLink[] = [
    { kind: 'bridge', name: bridge, mtu: MTU },
    { kind: 'tap', name: tap, bridge, mtu: MTU, up: true },
    { kind: 'veth', name: service, bridge, namespace: service, mac: deriveMac(service), mtu: MTU },
  ];
  try {
    await ip.batch([`netns add ${service}`, ...linkCommands(links, [], 0)]);
    const probeTable = `inet ${names.tableName}_${PROBE_NAME}`;
    await runProgram(nft, ['-f', '-'], {
      runAs: undefined,
      input: `table ${probeTable}\ndelete table ${probeTable}\n`,
    });
  } finally {
    // Devices are removed explicitly, because the kernel removes the devices of a deleted namespace with a delay, and
    // the next build may list them before that.
    const removals = [tap, service, bridge].map((name) => `link delete dev ${name}`);
    for (const command of [...removals, `netns delete ${service}`]) await ip.batch([command]).catch(() => {});
  }
}
