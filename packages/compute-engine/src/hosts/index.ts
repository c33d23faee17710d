export { createHost, type Host, HostInUse, type HostOptions } from './create-host.js';
export { HostUnreachable } from './links/host-caller.js';
export type { MachineResources } from './machine-resources.js';
