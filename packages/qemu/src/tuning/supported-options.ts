/** A machine option that a flavor (extra spec) or an image (property) sets. */
interface SupportedOption {
  readonly spec?: string;
  readonly property?: string;
  /** A description of the option's effect, for the generated documentation. */
  readonly effect: string;
}

/**
 * All machine options that flavors and images can set; the flavor takes precedence. Only these can be read with {@link
 * machineOptionsOf}, so that the documentation is complete.
 */
export const supportedOptions = {
  cpuSockets: {
    spec: 'hw:cpu_sockets',
    property: 'hw_cpu_sockets',
    effect: "CPU sockets; ignored unless sockets × cores × threads equals the flavor's number of VCPUs",
  },
  cpuCores: { spec: 'hw:cpu_cores', property: 'hw_cpu_cores', effect: 'cores per socket' },
  cpuThreads: { spec: 'hw:cpu_threads', property: 'hw_cpu_threads', effect: 'threads per core' },
  cpuPolicy: {
    spec: 'hw:cpu_policy',
    property: 'hw_cpu_policy',
    effect:
      '`dedicated`: each VCPU gets a core of the host that no other machine uses. At least one core remains for other machines. If there are not enough cores, the machine does not start',
  },
  cpuShares: {
    spec: 'quota:cpu_shares',
    effect:
      "the machine's relative CPU weight when processors are overcommitted; default 1024. Needs writable cgroups v2",
  },
  cpuQuota: {
    spec: 'quota:cpu_quota',
    effect: 'the CPU time in microseconds that each VCPU may use per period. Needs writable cgroups v2',
  },
  cpuPeriod: {
    spec: 'quota:cpu_period',
    effect: "the CPU quota's period in microseconds; default 100,000. Needs writable cgroups v2",
  },
  hideHypervisor: {
    spec: 'hw:hide_hypervisor_id',
    property: 'img_hide_hypervisor_id',
    effect: 'hides the KVM signature from the guest',
  },
  pmu: { spec: 'hw:pmu', property: 'hw_pmu', effect: 'whether the guest has hardware performance counters' },
  pageSize: {
    spec: 'hw:mem_page_size',
    property: 'hw_mem_page_size',
    effect:
      "`large`, or a size above 4 KiB: the guest's memory consists of huge pages, which must be reserved on the host. `small`, `any`: pages of the normal size",
  },
  diskReadBytes: { spec: 'quota:disk_read_bytes_sec', effect: 'read limit of each disk in bytes per second' },
  diskWriteBytes: { spec: 'quota:disk_write_bytes_sec', effect: 'write limit of each disk in bytes per second' },
  diskTotalBytes: {
    spec: 'quota:disk_total_bytes_sec',
    effect: 'combined read and write limit of each disk in bytes per second; ignored if a read or write limit is set',
  },
  diskReads: { spec: 'quota:disk_read_iops_sec', effect: 'read limit of each disk in requests per second' },
  diskWrites: { spec: 'quota:disk_write_iops_sec', effect: 'write limit of each disk in requests per second' },
  diskRequests: {
    spec: 'quota:disk_total_iops_sec',
    effect:
      'combined read and write limit of each disk in requests per second; ignored if a read or write limit is set',
  },
  diskBus: {
    property: 'hw_disk_bus',
    effect:
      '`virtio` (default), `scsi`, or `ide` (at most four disks, no hot plug). The API always shows `virtio` device names',
  },
  nicModel: {
    property: 'hw_vif_model',
    effect: '`virtio` (default), `e1000`, `e1000e`, `rtl8139`, `ne2k_pci`, `pcnet`, `vmxnet3`',
  },
  multiqueue: {
    spec: 'hw:vif_multiqueue_enabled',
    property: 'hw_vif_multiqueue_enabled',
    effect:
      '`true`: interfaces have one queue per VCPU, at most 256. Only with the interface model `virtio` and the network mode `bridge`. If the values of flavor and image differ, the request returns 400',
  },
  machineType: {
    property: 'hw_machine_type',
    effect:
      '`pc` (default), `q35`, and their versions (`pc-i440fx-7.2`, `pc-q35-7.2`) if the installed QEMU has them. Servers with another type fail to start',
  },
  rngAllowed: {
    spec: 'hw_rng:allowed',
    effect: '`false`: the machine has no random number generator. Otherwise, it has one',
  },
  rngBytes: { spec: 'hw_rng:rate_bytes', effect: 'the maximum number of random bytes per period' },
  rngPeriod: { spec: 'hw_rng:rate_period', effect: 'the period of `hw_rng:rate_bytes` in milliseconds; default 1000' },
  watchdog: {
    spec: 'hw:watchdog_action',
    property: 'hw_watchdog_action',
    effect:
      'a watchdog (i6300esb) and its action when the guest hangs: `reset`, `poweroff`, `pause`, `none`. `disabled`: no watchdog',
  },
  video: { property: 'hw_video_model', effect: '`vga` (default), `cirrus`, `virtio`, `none`' },
  pointer: {
    property: 'hw_pointer_model',
    effect: "`usbtablet`: the guest's pointer follows the viewer's pointer",
  },
  firmware: {
    property: 'hw_firmware_type',
    effect: '`bios` (default) or `uefi`, which needs the package `ovmf`: without it the server fails to start',
  },
  secureBoot: {
    spec: 'os:secure_boot',
    property: 'os_secure_boot',
    effect:
      '`required`: the firmware starts only signed boot loaders; needs `hw_firmware_type=uefi` and `hw_machine_type=q35`. `optional`: the same, but only if the host supports it',
  },
  tpmVersion: {
    spec: 'hw:tpm_version',
    property: 'hw_tpm_version',
    effect:
      "`1.2` or `2.0`: an emulated TPM, which needs the package `swtpm`: without it, the server is in `ERROR`, and the [details of the fault](what-hosts-offer.md) name the missing trait. The TPM's state is stored with the disks and migrates with them. A rebuild, or unshelving from an image, creates a new state",
  },
  tpmModel: {
    spec: 'hw:tpm_model',
    property: 'hw_tpm_model',
    effect: '`tpm-tis` (default) or `tpm-crb` (only 2.0)',
  },
  bootMenu: { spec: 'hw:boot_menu', property: 'hw_boot_menu', effect: 'the firmware shows a boot menu' },
  agent: {
    property: 'hw_qemu_guest_agent',
    effect: 'adds a channel through which the host and the QEMU guest agent communicate',
  },
  atRest: {
    property: 'os_require_quiesce',
    effect: "snapshots of the server fail if the guest agent cannot freeze the guest's file systems",
  },
  administrator: {
    property: 'os_admin_user',
    effect: 'the account whose password the action `changePassword` changes; default `root`',
  },
  system: { property: 'os_type', effect: '`windows`: the default of `os_admin_user` is `Administrator`' },
  kernel: { property: 'kernel_id', effect: 'the kernel to boot, instead of the boot loader on the disk' },
  ramdisk: { property: 'ramdisk_id', effect: 'the ramdisk for the kernel in `kernel_id`' },
  commandLine: { property: 'os_command_line', effect: 'the kernel command line' },
} as const satisfies Readonly<Record<string, SupportedOption>>;

export type MachineOption = keyof typeof supportedOptions;

/** Extra specs that have no effect on QEMU machines, with the reason; `*` matches any suffix. */
export const optionsWithoutEffect: Readonly<Record<string, string>> = {
  'accel:*': 'accelerators are not supported',
  'aggregate_instance_extra_specs:*': 'used by the scheduler only',
  'capabilities:*': 'used by the scheduler only',
  group_policy: 'used by the scheduler only',
  'resources*': 'used by the scheduler only',
  'trait*': 'used by the scheduler only',
  'pci_passthrough:*': 'PCI passthrough is not supported',
  'vmware:*': 'only for other hypervisors',
  hide_hypervisor_id: 'the old name of `hw:hide_hypervisor_id`',
  'hw:cpu_dedicated_mask': 'either all VCPUs of a machine are dedicated, or none',
  'hw:cpu_max_*': 'the requested topology is used exactly',
  'hw:cpu_realtime*': 'real-time scheduling needs privileges that machines do not have',
  'hw:cpu_thread_policy': 'cores are selected regardless of sibling threads',
  'hw:emulator_threads_policy': 'emulator threads run on the cores of the machine',
  'hw:ephemeral_encryption*': 'disks are not encrypted',
  'hw:locked_memory': 'machines do not have the privilege to lock memory',
  'hw:mem_encryption*': 'processors and firmware that support memory encryption are not detected',
  'hw:numa_*': 'NUMA placement is not supported',
  'hw:pci_numa_affinity_policy': 'PCI passthrough is not supported',
  'hw:pmem': 'persistent memory is not supported',
  'hw:redirected_usb_ports': 'USB redirection is not supported',
  'hw:serial_port_count': 'machines have one serial port',
  'hw:sound_model': 'sound is not supported',
  'hw:tpm_secret_security': 'the state of a TPM is not encrypted; only the user that runs machines can read it',
  'hw:usb_model': 'machines have a USB controller only if `hw_pointer_model` requires one',
  'hw:viommu_model': 'IOMMU is not supported',
  'hw:virtio_packed_ring': 'machines use split virtio rings',
  'hw_video:ram_max_mb': 'video memory has the default size',
  'quota:cpu_limit': 'only for other hypervisors',
  'quota:cpu_reservation': 'only for other hypervisors',
  'quota:cpu_shares_*': 'only for other hypervisors',
  'quota:disk_io_*': 'only for other hypervisors',
  'quota:memory_*': 'only for other hypervisors',
  'quota:vif_*': 'QEMU does not limit the bandwidth of interfaces',
};
