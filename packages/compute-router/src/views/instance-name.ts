/** The name by which a hypervisor knows a server: made of the server's number. */
export function instanceNameOf(seq: number): string {
  return `instance-${seq.toString(16).padStart(8, '0')}`;
}
