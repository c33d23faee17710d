export { createHost, type Host, type HostHealth, HostInUse } from './create-host.js';
export type { HostOptions } from './host-options.js';
export { HostUnreachable } from './links/host-caller.js';
export type { MachineResources } from './machine-resources.js';
