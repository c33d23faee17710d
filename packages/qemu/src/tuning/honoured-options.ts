/** An option of machines that a flavor (extra spec) or an image (property) sets. */
interface Honoured {
  readonly spec?: string;
  readonly property?: string;
  /** What becomes of it, in words for the page about it. */
  readonly effect: string;
}

/**
 * All options of machines that flavors and images can set; where both do, the flavor's word holds. What is not here
 * cannot be read by {@link machineOptionsOf}, so that there is no option that the page does not have.
 */
export const honoured = {
  cpuSockets: {
    spec: 'hw:cpu_sockets',
    property: 'hw_cpu_sockets',
    effect: 'sockets, as long as sockets, cores and threads come out at the number of the flavor',
  },
  cpuCores: { spec: 'hw:cpu_cores', property: 'hw_cpu_cores', effect: 'cores of each socket' },
  cpuThreads: { spec: 'hw:cpu_threads', property: 'hw_cpu_threads', effect: 'threads of each core' },
  cpuPolicy: {
    spec: 'hw:cpu_policy',
    property: 'hw_cpu_policy',
    effect:
      '`dedicated`: each of its processors has a core of this computer to itself, and no other machine runs there. One core at least is left to the others; where there are not enough the machine does not start',
  },
  cpuShares: {
    spec: 'quota:cpu_shares',
    effect:
      'the weight among machines that want more than there is; 1024 is usual. Needs cgroups of version 2 that the program may write',
  },
  cpuQuota: {
    spec: 'quota:cpu_quota',
    effect: 'microseconds of each period that each of its processors may run. Needs the same',
  },
  cpuPeriod: { spec: 'quota:cpu_period', effect: 'the period, in microseconds; default 100,000. Needs the same' },
  hideHypervisor: {
    spec: 'hw:hide_hypervisor_id',
    property: 'img_hide_hypervisor_id',
    effect: 'the processor does not say that it is one of KVM',
  },
  pmu: { spec: 'hw:pmu', property: 'hw_pmu', effect: 'whether there are performance counters' },
  pageSize: {
    spec: 'hw:mem_page_size',
    property: 'hw_mem_page_size',
    effect:
      '`large`, or a size above 4 KiB: memory of huge pages, which the computer must have set aside. `small`, `any`: usual pages',
  },
  diskReadBytes: { spec: 'quota:disk_read_bytes_sec', effect: 'bytes a second of each disk' },
  diskWriteBytes: { spec: 'quota:disk_write_bytes_sec', effect: 'likewise' },
  diskTotalBytes: { spec: 'quota:disk_total_bytes_sec', effect: 'likewise, both ways together; without the two above' },
  diskReads: { spec: 'quota:disk_read_iops_sec', effect: 'requests a second of each disk' },
  diskWrites: { spec: 'quota:disk_write_iops_sec', effect: 'likewise' },
  diskRequests: { spec: 'quota:disk_total_iops_sec', effect: 'likewise, both ways together; without the two above' },
  diskBus: {
    property: 'hw_disk_bus',
    effect:
      '`virtio` (default), `scsi`, or `ide`, which takes four disks and none while it runs. Names that the API gives are those of `virtio`',
  },
  nicModel: {
    property: 'hw_vif_model',
    effect: '`virtio` (default), `e1000`, `e1000e`, `rtl8139`, `ne2k_pci`, `pcnet`, `vmxnet3`',
  },
  machineType: {
    property: 'hw_machine_type',
    effect: '`pc`, and its versions (`pc-i440fx-7.2`) as far as this QEMU has them; anything else is `pc`',
  },
  rngAllowed: { spec: 'hw_rng:allowed', effect: '`false`: no source of random numbers. Else every machine has one' },
  rngBytes: { spec: 'hw_rng:rate_bytes', effect: 'bytes that it gives in each period' },
  rngPeriod: { spec: 'hw_rng:rate_period', effect: 'the period, in milliseconds; default 1000' },
  watchdog: {
    spec: 'hw:watchdog_action',
    property: 'hw_watchdog_action',
    effect:
      'a watchdog (i6300esb), and what it does when the guest hangs: `reset`, `poweroff`, `pause`, `none`. `disabled`: there is none',
  },
  video: { property: 'hw_video_model', effect: '`vga` (default), `cirrus`, `virtio`, `none`' },
  pointer: {
    property: 'hw_pointer_model',
    effect: '`usbtablet`: the pointer on the screen is where that of the viewer is',
  },
  bootMenu: { spec: 'hw:boot_menu', property: 'hw_boot_menu', effect: 'the firmware lets choose what to boot from' },
  agent: { property: 'hw_qemu_guest_agent', effect: 'a channel to an agent in the guest' },
  atRest: { property: 'os_require_quiesce', effect: 'copies of the disk fail where the agent cannot freeze the files' },
  administrator: { property: 'os_admin_user', effect: 'whose password is changed; default `root`' },
  system: { property: 'os_type', effect: '`windows`: the default above is `Administrator`' },
  kernel: { property: 'kernel_id', effect: 'the kernel that is booted, in place of what the disk has' },
  ramdisk: { property: 'ramdisk_id', effect: 'the ramdisk that goes with it' },
  commandLine: { property: 'os_command_line', effect: 'what the kernel is told' },
} as const satisfies Readonly<Record<string, Honoured>>;

export type MachineOption = keyof typeof honoured;

/** What nobody here can do anything about, or has: by extra spec; `*` stands for any end. */
export const withoutEffect: Readonly<Record<string, string>> = {
  'accel:*': 'there are no accelerators',
  'aggregate_instance_extra_specs:*': 'heard by the scheduler alone',
  'capabilities:*': 'heard by the scheduler alone',
  group_policy: 'heard by the scheduler alone',
  'resources*': 'heard by the scheduler alone',
  'trait*': 'heard by the scheduler alone',
  'pci_passthrough:*': 'no devices of the computer are handed through',
  'vmware:*': 'of another hypervisor',
  hide_hypervisor_id: 'the old name of `hw:hide_hypervisor_id`',
  'hw:cpu_dedicated_mask': 'all processors of a machine are dedicated, or none',
  'hw:cpu_max_*': 'the topology is that which is asked for',
  'hw:cpu_realtime*': 'real time needs rights that machines do not have',
  'hw:cpu_thread_policy': 'cores are chosen without regard to their threads',
  'hw:emulator_threads_policy': 'what QEMU does beside runs on the cores of the machine',
  'hw:ephemeral_encryption*': 'disks are not encrypted',
  'hw:locked_memory': 'machines may not lock memory',
  'hw:mem_encryption*': 'needs processors and firmware that are not looked for',
  'hw:numa_*': 'memory is not placed',
  'hw:pci_numa_affinity_policy': 'no devices of the computer are handed through',
  'hw:pmem': 'there is no persistent memory',
  'hw:redirected_usb_ports': 'nothing is redirected',
  'hw:serial_port_count': 'there is one serial line',
  'hw:sound_model': 'there is no sound',
  'hw:tpm_*': 'there is no TPM',
  'hw:usb_model': 'there is no USB, but for a pointer that asks for it',
  'hw:vif_multiqueue_enabled': 'interfaces have one queue',
  'hw:viommu_model': 'there is no IOMMU',
  'hw:virtio_packed_ring': 'the usual rings',
  'hw_video:ram_max_mb': 'the memory of screens is the usual one',
  'os:secure_boot': 'the firmware is a BIOS',
  'quota:cpu_limit': 'of another hypervisor',
  'quota:cpu_reservation': 'of another hypervisor',
  'quota:cpu_shares_*': 'of another hypervisor',
  'quota:disk_io_*': 'of another hypervisor',
  'quota:memory_*': 'of another hypervisor',
  'quota:vif_*': 'QEMU bounds no interfaces',
};
