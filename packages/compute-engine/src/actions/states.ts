/** States of a server that has its machine, switched on or off, and nothing to wait for. */
export const BOOTED = ['active', 'paused', 'suspended', 'stopped'] as const;
