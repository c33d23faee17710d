/** Ports of this computer that lead to a port of guests. */
export interface ForwardRule {
  /** As it was written. */
  readonly text: string;
  /** Only servers of that name; null: any. */
  readonly server: string | null;
  readonly protocol: 'tcp' | 'udp';
  /** From the first to the last one; each leads to another server. */
  readonly hostPorts: readonly [first: number, last: number];
  readonly guestPort: number;
}

/** Machines run as a user who may not listen below. */
const LEAST_HOST_PORT = 1024;
const MOST_PORT = 65_535;

const WRITTEN = /^(?:(.{1,255}):)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:\/(tcp|udp))?$/;

/**
 * Reads `[NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp]`.
 * @throws TypeError that says what is wrong
 */
export function parseForward(text: string): ForwardRule {
  const refuse = (why: string) => new TypeError(`forward: '${text}' ${why}`);
  const parts = WRITTEN.exec(text);
  if (!parts)
    throw refuse('is not [NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp], such as 2222:22, 2200-2299:22 or web:8080:80');
  const [, server = null, written = '', end = written, guest = '', protocol = 'tcp'] = parts;
  const [first, last, guestPort] = [Number(written), Number(end), Number(guest)];
  if (first < LEAST_HOST_PORT || last > MOST_PORT || first > last)
    throw refuse(
      `has ports of this computer that cannot be: they are ${LEAST_HOST_PORT} to ${MOST_PORT}, in this order`,
    );
  if (guestPort < 1 || guestPort > MOST_PORT) throw refuse(`has a port of the guest that cannot be: 1 to ${MOST_PORT}`);
  return { text, server, protocol: protocol as 'tcp' | 'udp', hostPorts: [first, last], guestPort };
}
