/** The `vm_state` values of servers that have a machine, whether or not the machine is running. */
export const BOOTED_STATES = ['active', 'paused', 'suspended', 'stopped'] as const;
