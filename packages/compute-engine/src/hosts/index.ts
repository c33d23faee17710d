export type { ComputerFigures, CpuMode, InterfaceFigures } from './computer-figures.js';
export { createHost, type Host, type HostHealth, HostInUse } from './create-host.js';
export type { HostFigures, HostProcessFigures, HostStatistics } from './host-figures.js';
export type { HostOptions } from './host-options.js';
export { HostUnreachable } from './links/host-link-client.js';
export type { HostResources } from './machine-resources.js';
