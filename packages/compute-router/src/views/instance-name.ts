/** Returns the name that a server's instance has on the hypervisor. It is derived from the server's sequence number. */
export function instanceNameOf(seq: number): string {
  return `instance-${seq.toString(16).padStart(8, '0')}`;
}
