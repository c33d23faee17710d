/** States of a server that has a machine, running or not. */
export const BOOTED = ['active', 'paused', 'suspended', 'stopped'] as const;
