import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bundledProgram } from '../../../../../testing/bundled-program.js';
import { desiredLinks, linkCommands } from '../../../src/network/desired-links.js';
import { DeviceNames } from '../../../src/network/device-names.js';
import { findInstalledProgram } from '../../../src/programs/find-program.js';
import { missingForBridges } from '../../bridge/missing-for-bridges.js';
import { missingForEncryption } from '../../bridge/missing-for-encryption.js';
import { buildGuest } from '../../guest/build-guest.js';
import {
  missingForComputerGuests,
  missingForThinPoolsInGuests,
  runInGuest,
  THIN_POOL_MODULES,
} from '../../guest/computer-guest.js';
import { planOf } from '../../physical-plan.js';
import { ada, guestPreset, IMAGE, KERNEL, RAMDISK } from '../../qemu-cloud.js';

const missing =
  missingForComputerGuests() ??
  missingForBridges() ??
  missingForEncryption() ??
  (findInstalledProgram('lvm') ? undefined : 'LVM (lvm2)');
if (missing)
  console.warn(
    `\n*** SKIPPED: WireGuard, vhost-net, VLANs and LVM of the kernel: this machine has no ${missing} ***\n`,
  );

const missingForThinPools = missingForThinPoolsInGuests();
if (missingForThinPools)
  console.warn(
    `\n*** SKIPPED: volumes of an LVM thin pool in a guest: this machine has no ${missingForThinPools} ***\n`,
  );

const missingForVlans = missingForComputerGuests() ?? missingForBridges();
if (missingForVlans) console.warn(`\n*** SKIPPED: VLANs of an interface: this machine has no ${missingForVlans} ***\n`);

const ROOT = join(import.meta.dirname, '../../../../..');
/** On a busy computer, an emulated processor is slow. */
const TIMEOUT_MS = 1_800_000;
/** The caller is an administrator, because only administrators connect networks to a VLAN. */
const admin = { ...ada.caller, isAdmin: true };
/** Requests to the cloud. `@network@` stands for the id of the network that the first one creates. */
const REQUESTS = {
  CREATE_NETWORK: {
    path: ['embedded', 'networks', 'createNetwork'],
    args: [
      admin,
      {
        name: 'vlan7',
        shared: true,
        provider: { networkType: 'vlan', physicalNetwork: 'lan', segmentationId: 7 },
        portSecurityEnabled: false,
      },
    ],
  },
  CREATE_SUBNET: {
    path: ['embedded', 'networks', 'createSubnet'],
    args: [admin, { networkId: '@network@', cidr: '10.7.0.0/24' }],
  },
  CREATE_SERVER: {
    path: ['servers', 'create'],
    args: [
      ada,
      {
        name: 'guest',
        flavorId: 'small',
        networks: [{ networkId: '@network@' }],
        devices: [{ source: 'image', destination: 'volume', sourceId: IMAGE, size: 1, bootIndex: 0 }],
      },
    ],
  },
  IDLE: { path: ['idle'], args: [] },
  LIST_SERVERS: { path: ['servers', 'list'], args: [ada, { limit: 1 }] },
};
const GUEST = join(import.meta.dirname, '../../guest');
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

// The kernel of the computer may lack WireGuard, vhost-net, VLANs and thin pools, or be unable to run guests with KVM. In
// a virtual machine with Debian's kernel, QEMU emulates the processor's virtualization instructions, so its own guests use
// KVM.
it.skipIf(missing)(
  'the kernel encrypts tunnels, forwards packets of guests with KVM to a VLAN, and stores their volumes in a thin pool',
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-kernel-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const guest = buildGuest(folder);
    const files: Readonly<Record<string, string>> = { [KERNEL]: guest.kernel, [RAMDISK]: guest.ramdisk };
    const preset = guestPreset(guest);
    const images = preset.images?.map(({ content: _, ...image }) => ({ ...image, file: files[image.id] }));
    const variables = {
      NODE: process.execPath,
      END: await bundledProgram(join(GUEST, 'wireguard-end.mjs')),
      CLOUD: await bundledProgram(join(import.meta.dirname, '../../bridge/program.mjs')),
      OPTIONS: JSON.stringify({
        directory: '/run/cloud',
        preset: { ...preset, images, networks: [] },
        providerNetworks: { lan: 'br0' },
        volumePool: 'pool/volumes',
        acceleration: 'kvm',
      }),
      ...Object.fromEntries(Object.entries(REQUESTS).map(([name, request]) => [name, JSON.stringify(request)])),
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
    const script = [...lines, readFileSync(join(GUEST, 'kernel-devices.sh'), 'utf8')].join('\n');
    const { status, output } = await runInGuest(script, [], TIMEOUT_MS - 30_000);
    expect(status, output).toBe(0);
    expect(output).toMatch(/^DEVICE .* wireguard /m);
    expect(output).toMatch(/^3 packets transmitted, 3 packets received/m);
    expect(output).toContain('machine interfaces use vhost-net');
    expect(output).toMatch(/^vhost-\d+$/m);
    expect(output).toMatch(/^ADDRESS eth0 \S+ 10\.7\.0\.\d+\/24$/m);
    expect(output).toMatch(/^DISK 2097152$/m);
    expect(output).toMatch(/^BOOTS 1$/m);
    expect(output).toMatch(/^VOLUME +\S+ +[1-9]/m);
    expect(output).toContain('VLAN 3 packets transmitted, 3 packets received');
  },
);

// The kernel of the computer may lack thin pools, but Debian's kernel has them.
it.skipIf(missingForThinPools)(
  'volumes of an LVM thin pool pass the conformance tests in a guest',
  { timeout: TIMEOUT_MS },
  async () => {
    const vitest = `${process.execPath} ${join(ROOT, 'node_modules/vitest/vitest.mjs')} run --root ${ROOT}`;
    const script = `export NO_COLOR=1
cd ${ROOT} && ${vitest} --config ${join(GUEST, 'in-guest.config.ts')} -t 'LVM thin pool' --reporter verbose >/run/output 2>&1
status=$?
cat /run/output
exit $status
`;
    const { status, output } = await runInGuest(script, THIN_POOL_MODULES, TIMEOUT_MS - 30_000);
    expect(status, output).toBe(0);
    expect(output).not.toContain('SKIPPED');
    expect(output.match(/✓ .*LVM thin pool > /g), output).toHaveLength(10);
  },
);

// The kernel of the computer may lack VLANs, but Debian's kernel has them.
it.skipIf(missingForVlans)('a VLAN of an interface that is down carries packets', { timeout: TIMEOUT_MS }, async () => {
  const names = new DeviceNames('h7');
  const plan = planOf('vlan', 'wire', 7);
  const links = desiredLinks(plan, names, new Map([['wire', { device: 'wire0', isBridge: false }]]));
  // Without the devices of guests and services, which need other processes and namespaces.
  const commands = linkCommands(links, [], 0).filter((command) => !/aq[st]/.test(command));
  const { status, output } = await runInGuest(
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
