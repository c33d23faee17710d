export type { QemuOptions } from './options.js';
export type { Acceleration } from './programs/acceleration.js';
export type { RunAs } from './programs/run-program.js';
export { qemuDriver } from './qemu-driver.js';
export { QemuError, type QemuErrorCode } from './qemu-error.js';
export { type QemuHost, qemuHost } from './qemu-host.js';
