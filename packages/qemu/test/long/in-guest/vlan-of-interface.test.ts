import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { desiredLinks, linkCommands } from '../../../src/network/desired-links.js';
import { DeviceNames } from '../../../src/network/device-names.js';
import { missingForBridges } from '../../bridge/missing-for-bridges.js';
import { missingForComputerGuests, runInGuest } from '../../guest/computer-guest.js';
import { planOf } from '../../physical-plan.js';

const missing = missingForComputerGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: VLANs of an interface: this machine has no ${missing} ***\n`);

const TIMEOUT_MS = 600_000;
const names = new DeviceNames('h7');

// The kernel of the computer may lack VLANs, but Debian's kernel has them.
it.skipIf(missing)('a VLAN of an interface that is down carries packets', { timeout: TIMEOUT_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-vlan-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const plan = planOf('vlan', 'wire', 7);
  const links = desiredLinks(plan, names, new Map([['wire', { device: 'wire0', isBridge: false }]]));
  // Without the devices of guests and services, which need other processes and namespaces.
  const commands = linkCommands(links, [], 0).filter((command) => !/aq[st]/.test(command));
  const { status, output } = await runInGuest(
    folder,
    `busybox depmod
for module in veth bridge br_netfilter 8021q; do busybox modprobe $module; done
ip netns add lan
ip link add name wire0 type veth peer name wire1 netns lan
ip -n lan link set wire1 up
ip -n lan link add link wire1 name tagged type vlan id 7
ip -n lan address add 10.7.0.1/24 dev tagged
ip -n lan link set tagged up
ip -batch - <<'END'
${commands.join('\n')}
END
ip netns add guest
ip link add name port0 type veth peer name port1 netns guest
ip link set port0 master ${names.bridge(plan.networks[0]!.id)} up
ip -n guest address add 10.7.0.2/24 dev port1
ip -n guest link set port1 up
ip netns exec guest busybox ping -c 3 -W 5 10.7.0.1
`,
    [],
    TIMEOUT_MS - 30_000,
  );
  expect(status, output).toBe(0);
  expect(output).toMatch(/^3 packets transmitted, [1-3] packets received/m);
});
