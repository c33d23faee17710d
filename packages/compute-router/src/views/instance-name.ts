/** Returns the name of a server's instance on the hypervisor, which is derived from the server's sequence number. */
export function instanceNameOf(seq: number): string {
  return `instance-${seq.toString(16).padStart(8, '0')}`;
}
