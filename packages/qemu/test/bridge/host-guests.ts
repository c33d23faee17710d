import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { expect, vi } from 'vitest';
import { GuestLine } from '../guest/guest-line.js';
import type { QemuHosts } from '../qemu-hosts.js';

export const addressOf = ({ interfaces }: Server) => interfaces[0]!.fixedIps[0]!.address;
export const ping = (address: string, more = '') => `ping -c 1 -W 2 ${more} ${address}`;

/** Guests on hosts whose network this process cannot reach. Their serial lines are accessible through socket files. */
export class GuestsOfHosts {
  readonly #hosts: QemuHosts;
  readonly #lines = new Map<string, { readonly host: string; readonly line: GuestLine }>();

  constructor(hosts: QemuHosts) {
    this.#hosts = hosts;
  }

  async line(id: string): Promise<GuestLine> {
    const { host } = await this.#hosts.see(id);
    const cached = this.#lines.get(id);
    // If a guest has left this host and returned, its earlier serial line is closed.
    if (cached?.host === host && cached.line.isOpen) return cached.line;
    cached?.line.close();
    const line = await GuestLine.open(join(this.#hosts.folder(host!, id), 'serial'));
    this.#lines.set(id, { host: host!, line });
    return line;
  }

  /** Runs a command in a guest, and returns whether it succeeds. */
  async succeeds({ id }: Pick<Server, 'id'>, command: string): Promise<boolean> {
    return (await (await this.line(id)).run(`${command} >/dev/null 2>&1 && echo yes || echo no`)) === 'yes';
  }

  /** Waits until a command in a guest succeeds (or fails), because network changes take effect asynchronously. */
  becomes(expected: boolean, server: Pick<Server, 'id'>, command: string): Promise<void> {
    return vi.waitFor(async () => expect(await this.succeeds(server, command)).toBe(expected), {
      timeout: 90_000,
      interval: 200,
    });
  }

  close(): void {
    for (const { line } of this.#lines.values()) line.close();
  }
}
