/** Returns the name of a server on its hypervisor, derived from the server's number. */
export function instanceNameOf(seq: number): string {
  return `instance-${seq.toString(16).padStart(8, '0')}`;
}
