import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import { since, until } from '@apistrata/microversion';
import { derive, described, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import { nullableText } from '../../schemas/reply-types.js';
import { parentServer } from './target.js';

export const serverDiagnosticsDocs = resource({
  tag: 'diagnostics',
  when: {
    409: 'The state of the server does not allow the operation.',
    501: 'The driver of the host does not support the operation.',
  },
});

const path = '/servers/{server_id}/diagnostics';
const policy = 'os_compute_api:os-server-diagnostics';
const summary = 'Show the diagnostics of a server';

const nullableInteger = z.int().nullable();

const driver = z.enum(['ironic', 'libvirt', 'vmwareapi', 'xenapi']);
const state = z.enum(['pending', 'running', 'paused', 'shutdown', 'crashed', 'suspended']);

const standardSchema = object({
  config_drive: described('Whether the server has a config drive.', z.boolean()),
  cpu_details: described(
    'Diagnostic data for each virtual CPU.',
    derive(
      object({
        id: described('Index of the virtual CPU.', nullableInteger),
        time: described('CPU time used, in nanoseconds.', nullableInteger),
        utilisation: described('CPU utilization, in percent.', nullableInteger),
      }),
      (item) => item.array(),
    ),
  ),
  disk_details: described(
    'Diagnostic data for each disk.',
    derive(
      object({
        errors_count: described('Number of disk errors.', nullableInteger),
        read_bytes: described('Bytes read.', nullableInteger),
        read_requests: described('Number of read requests.', nullableInteger),
        write_bytes: described('Bytes written.', nullableInteger),
        write_requests: described('Number of write requests.', nullableInteger),
      }),
      (item) => item.array(),
    ),
  ),
  driver: described('Driver that the host uses.', driver),
  hypervisor: described('Type of the hypervisor, or null.', nullableText),
  hypervisor_os: described('Operating system of the host, or null.', nullableText),
  memory_details: described(
    'Memory size and usage.',
    object({
      maximum: described('Maximum memory, in MiB.', nullableInteger),
      used: described('Memory in use, in MiB.', nullableInteger),
    }),
  ),
  nic_details: described(
    'Diagnostic data for each network interface.',
    derive(
      object({
        mac_address: described('MAC address.', nullableText),
        rx_drop: described('Number of incoming packets that were dropped.', nullableInteger),
        rx_errors: described('Number of receive errors.', nullableInteger),
        rx_octets: described('Bytes received.', nullableInteger),
        rx_packets: described('Number of packets received.', nullableInteger),
        rx_rate: described('Receive rate, in bytes per second.', nullableInteger),
        tx_drop: described('Number of outgoing packets that were dropped.', nullableInteger),
        tx_errors: described('Number of transmit errors.', nullableInteger),
        tx_octets: described('Bytes sent.', nullableInteger),
        tx_packets: described('Number of packets sent.', nullableInteger),
        tx_rate: described('Transmit rate, in bytes per second.', nullableInteger),
      }),
      (item) => item.array(),
    ),
  ),
  num_cpus: described('Number of virtual CPUs.', nullableInteger),
  num_disks: described('Number of disks.', nullableInteger),
  num_nics: described('Number of network interfaces.', nullableInteger),
  state: described(
    'State of the instance: `pending`, `running`, `paused`, `shutdown`, `crashed` or `suspended`.',
    state,
  ),
  uptime: described('Uptime of the instance, in seconds.', nullableInteger),
});

type StandardDiagnostics = Infer<typeof standardSchema>;

/**
 * Returns the driver name that the response contains. A driver that the schema does not allow is reported as libvirt,
 * the most common driver.
 */
function driverName(name: string): StandardDiagnostics['driver'] {
  const knownDriver = driver.safeParse(name);
  return knownDriver.success ? knownDriver.data : 'libvirt';
}

function toStandardFormat(d: Diagnostics): StandardDiagnostics {
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
    state: state.catch('running').parse(d.state),
    uptime: d.uptimeSeconds,
  };
}

/**
 * Converts diagnostics to a flat object whose keys contain the name of the processor, disk or interface, such as
 * `vda_read`. Memory is in KiB.
 */
function toFlatFormat(d: Diagnostics): Record<string, number | null> {
  const counters: (readonly [string, number | null])[] = [
    ...d.cpus.map(({ timeNs }, index) => [`cpu${index}_time`, timeNs] as const),
    ['memory', d.memoryMaximumMb === null ? null : d.memoryMaximumMb * 1024],
  ];
  for (const disk of d.disks) {
    const name = disk.name.replace('/dev/', '');
    counters.push(
      [`${name}_read`, disk.readBytes],
      [`${name}_read_req`, disk.readRequests],
      [`${name}_write`, disk.writeBytes],
      [`${name}_write_req`, disk.writeRequests],
      [`${name}_errors`, disk.errors],
    );
  }
  d.nics.forEach((nic, index) => {
    const name = `vnet${index}`;
    counters.push(
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
  return Object.fromEntries(counters);
}

const showDiagnostics = {
  ...serverDiagnosticsDocs,
  name: 'showServerDiagnostics',
  description:
    'Shows CPU, memory, disk and network usage of a running or paused server. Until 2.47, the fields depend on the driver; since 2.48, all drivers return the same fields.',
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
    reply: z.record(z.string(), nullableInteger),
    run: async ({ engine, target }) => toFlatFormat(await engine.servers.diagnostics(target)),
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
    reply: standardSchema,
    run: async ({ engine, target }) => toStandardFormat(await engine.servers.diagnostics(target)),
  }),
];
