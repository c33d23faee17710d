import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import { since, until } from '@apistrata/microversion';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import { nullableText } from '../../schemas/reply-types.js';
import { parentServer } from './target.js';

export const serverDiagnosticsDocs = resource({
  tag: 'diagnostics',
  when: {
    409: 'The state of the server does not allow it.',
    501: 'The driver of the host does not support the operation.',
  },
});

const path = '/servers/{server_id}/diagnostics';
const policy = 'os_compute_api:os-server-diagnostics';
const summary = 'Show the diagnostics of a server';

const number = z.int().nullable();

const standard = {
  config_drive: z.boolean().describe('Whether the server has a config drive.'),
  cpu_details: z
    .array(
      z.strictObject({
        id: number.describe('Number of the virtual CPU.'),
        time: number.describe('CPU time used, in nanoseconds.'),
        utilisation: number.describe('CPU utilization, in percent.'),
      }),
    )
    .describe('Details of each virtual CPU.'),
  disk_details: z
    .array(
      z.strictObject({
        errors_count: number.describe('Number of disk errors.'),
        read_bytes: number.describe('Bytes read.'),
        read_requests: number.describe('Number of read requests.'),
        write_bytes: number.describe('Bytes written.'),
        write_requests: number.describe('Number of write requests.'),
      }),
    )
    .describe('Details of each disk.'),
  driver: z.enum(['ironic', 'libvirt', 'vmwareapi', 'xenapi']).describe('Driver of the host.'),
  hypervisor: nullableText.describe('Type of the hypervisor, or null.'),
  hypervisor_os: nullableText.describe('Operating system of the host, or null.'),
  memory_details: z
    .strictObject({
      maximum: number.describe('Maximum memory, in MiB.'),
      used: number.describe('Memory in use, in MiB.'),
    })
    .describe('Details of the memory.'),
  nic_details: z
    .array(
      z.strictObject({
        mac_address: nullableText.describe('MAC address.'),
        rx_drop: number.describe('Number of received packets that were dropped.'),
        rx_errors: number.describe('Number of receive errors.'),
        rx_octets: number.describe('Bytes received.'),
        rx_packets: number.describe('Number of packets received.'),
        rx_rate: number.describe('Receive rate, in bytes per second.'),
        tx_drop: number.describe('Number of packets that were dropped on transmission.'),
        tx_errors: number.describe('Number of transmit errors.'),
        tx_octets: number.describe('Bytes sent.'),
        tx_packets: number.describe('Number of packets sent.'),
        tx_rate: number.describe('Transmit rate, in bytes per second.'),
      }),
    )
    .describe('Details of each network interface.'),
  num_cpus: number.describe('Number of virtual CPUs.'),
  num_disks: number.describe('Number of disks.'),
  num_nics: number.describe('Number of network interfaces.'),
  state: z
    .enum(['pending', 'running', 'paused', 'shutdown', 'crashed', 'suspended'])
    .describe('State of the instance: `pending`, `running`, `paused`, `shutdown`, `crashed` or `suspended`.'),
  uptime: number.describe('Uptime of the instance, in seconds.'),
};

type Standard = z.infer<z.ZodObject<typeof standard>>;

/** Drivers that are not in the schema are reported as libvirt, the most common one. */
function driverName(name: string): Standard['driver'] {
  const known = standard.driver.safeParse(name);
  return known.success ? known.data : 'libvirt';
}

function standardForm(d: Diagnostics): Standard {
  return {
    config_drive: d.configDrive,
    cpu_details: d.cpus.map(({ id, timeNs, utilisation }) => ({ id, time: timeNs, utilisation })),
    disk_details: d.disks.map((disk) => ({
      errors_count: disk.errors,
      read_bytes: disk.readBytes,
      read_requests: disk.readRequests,
      write_bytes: disk.writeBytes,
      write_requests: disk.writeRequests,
    })),
    driver: driverName(d.driver),
    hypervisor: d.hypervisor,
    hypervisor_os: d.hypervisorOs,
    memory_details: { maximum: d.memoryMaximumMb, used: d.memoryUsedMb },
    nic_details: d.nics.map((nic) => ({
      mac_address: nic.macAddress,
      rx_drop: nic.rxDrop,
      rx_errors: nic.rxErrors,
      rx_octets: nic.rxBytes,
      rx_packets: nic.rxPackets,
      rx_rate: null,
      tx_drop: nic.txDrop,
      tx_errors: nic.txErrors,
      tx_octets: nic.txBytes,
      tx_packets: nic.txPackets,
      tx_rate: null,
    })),
    num_cpus: d.cpus.length,
    num_disks: d.disks.length,
    num_nics: d.nics.length,
    state: standard.state.catch('running').parse(d.state),
    uptime: d.uptimeSeconds,
  };
}

/** One flat object: counters of each part of the machine, with names derived from the part's name. Memory is in KiB. */
function flatForm(d: Diagnostics): Record<string, number | null> {
  const parts: (readonly [string, number | null])[] = [
    ...d.cpus.map(({ timeNs }, index) => [`cpu${index}_time`, timeNs] as const),
    ['memory', d.memoryMaximumMb === null ? null : d.memoryMaximumMb * 1024],
  ];
  for (const disk of d.disks) {
    const name = disk.name.replace('/dev/', '');
    parts.push(
      [`${name}_read`, disk.readBytes],
      [`${name}_read_req`, disk.readRequests],
      [`${name}_write`, disk.writeBytes],
      [`${name}_write_req`, disk.writeRequests],
      [`${name}_errors`, disk.errors],
    );
  }
  d.nics.forEach((nic, index) => {
    const name = `vnet${index}`;
    parts.push(
      [`${name}_rx`, nic.rxBytes],
      [`${name}_rx_packets`, nic.rxPackets],
      [`${name}_rx_errors`, nic.rxErrors],
      [`${name}_rx_drop`, nic.rxDrop],
      [`${name}_tx`, nic.txBytes],
      [`${name}_tx_packets`, nic.txPackets],
      [`${name}_tx_errors`, nic.txErrors],
      [`${name}_tx_drop`, nic.txDrop],
    );
  });
  return Object.fromEntries(parts);
}

const showDiagnostics = {
  ...serverDiagnosticsDocs,
  name: 'showServerDiagnostics',
  description:
    'Shows usage data of a running server. Until 2.47, the fields depend on the driver; since 2.48, they are the same for all drivers.',
} as const;

export const serverDiagnostics = [
  operation({
    ...showDiagnostics,
    method: 'GET',
    path,
    window: until('2.47', true),
    summary,
    policy,
    status: 200,
    errors: [400, 404, 409, 501],
    target: parentServer,
    reply: z.record(z.string(), number),
    run: async ({ engine, target }) => flatForm(await engine.servers.diagnostics(target)),
  }),
  operation({
    ...showDiagnostics,
    method: 'GET',
    path,
    window: since('2.48', true),
    summary,
    policy,
    status: 200,
    errors: [400, 404, 409, 501],
    target: parentServer,
    reply: z.strictObject(standard),
    run: async ({ engine, target }) => standardForm(await engine.servers.diagnostics(target)),
  }),
];
