/** States of a server that has a machine, whether it runs or not. */
export const BOOTED = ['active', 'paused', 'suspended', 'stopped'] as const;
