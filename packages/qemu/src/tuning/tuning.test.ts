import { describe, expect, it } from 'vitest';
import { type Tuning, tuningOf } from './tuning.js';

type Descriptions = Readonly<Record<string, string>>;

function tuned(extraSpecs: Descriptions = {}, properties: Descriptions = {}, vcpus = 4): Tuning {
  const sizes = { id: '1', name: 'm', vcpus, memoryMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0 };
  return tuningOf({ ...sizes, extraSpecs }, properties);
}

const none = { bps: 0, bps_rd: 0, bps_wr: 0, iops: 0, iops_rd: 0, iops_wr: 0 };

describe('options of flavors and images for a machine', () => {
  it('select the default machine if they are empty', () => {
    expect(tuned()).toEqual({
      topology: null,
      machineType: 'pc',
      cpuProperties: [],
      dedicated: false,
      cpu: null,
      pageBytes: null,
      diskModel: 'virtio-blk-pci',
      diskLimits: null,
      nicModel: 'virtio-net-pci',
      nicQueues: 1,
      rng: { bytes: undefined, periodMs: 1000 },
      watchdog: null,
      screen: 'std',
      tablet: false,
      bootMenu: false,
      firmware: 'bios',
      secureBoot: 'disabled',
      tpm: null,
    });
  });

  it.each<[Descriptions, Descriptions, Partial<Tuning>]>([
    [{ 'hw:cpu_sockets': '2' }, {}, { topology: { sockets: 2, cores: 2, threads: 1 } }],
    [{ 'hw:cpu_cores': '2', 'hw:cpu_threads': '2' }, {}, { topology: { sockets: 1, cores: 2, threads: 2 } }],
    [{ 'hw:cpu_sockets': '3' }, {}, { topology: null }],
    [{}, { hw_cpu_threads: '2' }, { topology: { sockets: 2, cores: 1, threads: 2 } }],
    [{ 'hw:cpu_policy': 'dedicated' }, {}, { dedicated: true }],
    [{ 'hw:cpu_policy': 'shared' }, { hw_cpu_policy: 'dedicated' }, { dedicated: false }],
    [{ 'quota:cpu_shares': '512' }, {}, { cpu: { shares: 512, quotaUs: undefined, periodUs: 100_000 } }],
    [
      { 'quota:cpu_quota': '10000', 'quota:cpu_period': '20000' },
      {},
      { cpu: { shares: undefined, quotaUs: 40_000, periodUs: 20_000 } },
    ],
    [{ 'quota:cpu_quota': '-1', 'quota:cpu_shares': '0' }, {}, { cpu: null }],
    [{ 'hw:hide_hypervisor_id': 'true', 'hw:pmu': 'false' }, {}, { cpuProperties: ['kvm=off', 'pmu=off'] }],
    [{}, { hw_pmu: 'yes' }, { cpuProperties: ['pmu=on'] }],
    [{ 'hw:mem_page_size': 'large' }, {}, { pageBytes: 'default' }],
    [{ 'hw:mem_page_size': '2MB' }, {}, { pageBytes: 2 ** 21 }],
    [{ 'hw:mem_page_size': '1048576' }, {}, { pageBytes: 2 ** 30 }],
    [{ 'hw:mem_page_size': '8Gbit' }, {}, { pageBytes: 2 ** 30 }],
    [{ 'hw:mem_page_size': '4' }, {}, { pageBytes: null }],
    [{ 'hw:mem_page_size': 'any' }, {}, { pageBytes: null }],
    [
      { 'quota:disk_read_bytes_sec': '1000', 'quota:disk_total_bytes_sec': '5000', 'quota:disk_total_iops_sec': '9' },
      {},
      { diskLimits: { ...none, bps_rd: 1000, iops: 9 } },
    ],
    [
      { 'quota:disk_write_bytes_sec': '7', 'quota:disk_read_iops_sec': '8', 'quota:disk_write_iops_sec': '9' },
      {},
      { diskLimits: { ...none, bps_wr: 7, iops_rd: 8, iops_wr: 9 } },
    ],
    [{ 'hw_rng:allowed': 'False' }, {}, { rng: null }],
    [{ 'hw_rng:rate_bytes': '64', 'hw_rng:rate_period': '50' }, {}, { rng: { bytes: 64, periodMs: 50 } }],
    [{ 'hw:watchdog_action': 'disabled' }, { hw_watchdog_action: 'reset' }, { watchdog: null }],
    [{}, { hw_watchdog_action: 'reset' }, { watchdog: 'reset' }],
    [{ 'hw:boot_menu': 'on' }, {}, { bootMenu: true }],
    [{}, { hw_disk_bus: 'scsi', hw_vif_model: 'e1000' }, { diskModel: 'scsi-hd', nicModel: 'e1000' }],
    [{}, { hw_disk_bus: 'x,file=/etc/shadow', hw_vif_model: 'constructor' }, { diskModel: 'virtio-blk-pci' }],
    [{ 'hw:vif_multiqueue_enabled': 'true' }, {}, { nicQueues: 4 }],
    [{}, { hw_vif_multiqueue_enabled: 'yes' }, { nicQueues: 4 }],
    [{}, { hw_vif_multiqueue_enabled: 'false' }, { nicQueues: 1 }],
    [{ 'hw:vif_multiqueue_enabled': 'true' }, { hw_vif_model: 'e1000' }, { nicModel: 'e1000', nicQueues: 1 }],
    [{}, { hw_machine_type: 'pc-i440fx-7.2' }, { machineType: 'pc-i440fx-7.2' }],
    [{}, { hw_machine_type: 'q35' }, { machineType: 'q35', firmware: 'bios', secureBoot: 'disabled' }],
    [{}, { hw_firmware_type: 'uefi' }, { machineType: 'pc', firmware: 'uefi', secureBoot: 'disabled' }],
    [{ 'os:secure_boot': 'required' }, { hw_firmware_type: 'uefi' }, { secureBoot: 'required' }],
    [{}, { os_secure_boot: 'optional' }, { firmware: 'bios', secureBoot: 'optional' }],
    [{}, {}, { tpm: null }],
    [{}, { hw_tpm_model: 'tpm-crb' }, { tpm: null }],
    [{}, { hw_tpm_version: '1.2' }, { tpm: { version: '1.2', model: 'tpm-tis' } }],
    [{ 'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb' }, {}, { tpm: { version: '2.0', model: 'tpm-crb' } }],
    [{}, { hw_video_model: 'cirrus', hw_pointer_model: 'usbtablet' }, { screen: 'cirrus', tablet: true }],
  ])('%j, %j', (specs, properties, expected) => {
    expect(tuned(specs, properties)).toMatchObject(expected);
  });

  it('give each interface one queue per VCPU, up to the maximum of a TAP device', () => {
    const queues = (vcpus: number) => tuned({ 'hw:vif_multiqueue_enabled': 'True' }, {}, vcpus).nicQueues;
    expect([1, 2, 256, 300].map(queues)).toEqual([1, 2, 256, 256]);
  });

  it.each([
    [{}, { hw_machine_type: 'virt' }, 'the machine type virt (hw_machine_type) is not supported: use pc or q35'],
    [{}, { hw_machine_type: 'pc-i440fx-7.2,dumpdtb=/x' }, /is not supported/],
    [{ 'os:secure_boot': 'required' }, {}, /set the image property hw_firmware_type=uefi/],
    [{}, { hw_tpm_version: '3.0' }, /unknown TPM version 3.0 \(hw_tpm_version, hw:tpm_version\): use 1.2 or 2.0/],
    [{}, { hw_tpm_version: '2.0', hw_tpm_model: 'tpm-spapr,x' }, /use tpm-tis or tpm-crb/],
    [{ 'hw:tpm_version': '1.2' }, { hw_tpm_model: 'tpm-crb' }, /tpm-crb requires hw_tpm_version=2.0/],
  ])('%j, %j are rejected', (specs, properties, message) => {
    expect(() => tuned(specs, properties)).toThrow(message);
  });
});
