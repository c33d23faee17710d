import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from '@apistrata/compute-engine';
import { ifMissing } from '../machine/if-missing.js';
import type { MachineFolders } from '../network/network-mode.js';
import type { ForwardRule } from './forward-rule.js';
import type { Forward, UserForwards } from './user-forwards.js';

type ForwardingServer = Pick<Server, 'id' | 'name' | 'projectId'>;

export interface ForwardsOptions {
  readonly rules: readonly ForwardRule[];
  /** The host address on which forwarded ports listen. */
  readonly address: string;
  readonly log: (line: string) => void;
}

/**
 * Returns true if a host port is free. If another process binds the port before QEMU does, the machine fails to start.
 */
async function isPortFree(protocol: 'tcp' | 'udp', port: number, address: string): Promise<boolean> {
  try {
    if (protocol === 'tcp') {
      const server = createServer().listen({ port, host: address, exclusive: true });
      await once(server, 'listening');
      await new Promise((resolve) => server.close(resolve));
    } else {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4').bind({ port, address, exclusive: true });
      await once(socket, 'listening');
      await new Promise<void>((resolve) => socket.close(resolve));
    }
    return true;
  } catch {
    return false;
  }
}

/** Writes a file atomically, because a partially written file would prevent every guest from starting. */
async function writeAtomically(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

const hasSameHostPort = (a: Forward, b: Forward) => a.protocol === b.protocol && a.hostPort === b.hostPort;

function matchesRule({ protocol, hostPorts: [first, last], guestPort }: ForwardRule, forward: Forward): boolean {
  return (
    forward.protocol === protocol &&
    forward.guestPort === guestPort &&
    forward.hostPort >= first &&
    forward.hostPort <= last
  );
}

/**
 * Assigns host ports to guests. A server's ports are stored in its folder, so that it keeps them across restarts, as
 * long as the rules allow them and no other process uses them.
 */
export class Forwards {
  readonly #options: ForwardsOptions;
  /** The servers that this process has started. */
  readonly #owners = new Map<string, ForwardingServer>();
  /** Each server's port forwards, including those that an earlier process assigned. */
  #forwardsByServer: Promise<Map<string, readonly Forward[]>> | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: ForwardsOptions) {
    this.#options = options;
  }

  /**
   * Assigns a server's port forwards before the server starts.
   *
   * @param folders the machine folders, which contain the assigned ports
   */
  assign({ id, name, projectId }: ForwardingServer, folders: MachineFolders): Promise<UserForwards> {
    const { address, rules, log } = this.#options;
    if (rules.length === 0) return Promise.resolve({ address, forwards: [] });
    const assignment = this.#previous.then(async () => {
      const assignedForwards = await this.#storedForwards(folders);
      const previous = assignedForwards.get(id) ?? [];
      const otherForwards = [...assignedForwards].flatMap(([other, forwards]) => (other === id ? [] : forwards));
      const ownForwards: Forward[] = [];
      const otherOwners = [...this.#owners.values()];
      this.#owners.set(id, { id, name, projectId });
      const isNameAmbiguous = otherOwners.some((other) => other.name === name && other.projectId !== projectId);
      for (const rule of rules) {
        const matchesName = rule.server === name;
        if (rule.server !== null && !matchesName && rule.server !== `${projectId}/${name}`) continue;
        if (matchesName && isNameAmbiguous) {
          log(`--forward ${rule.text} matches servers of several projects: write ${projectId}/${rule.text} for ${id}`);
          continue;
        }
        const forward = await this.#selectForward(rule, previous, [...otherForwards, ...ownForwards]);
        const targetDescription = `port ${rule.guestPort}/${rule.protocol} of ${name} (${id})`;
        if (forward) {
          ownForwards.push(forward);
          log(`${address}:${forward.hostPort} forwards to ${targetDescription}`);
        } else log(`--forward ${rule.text} has no free host port for ${targetDescription}`);
      }
      assignedForwards.set(id, ownForwards);
      await writeAtomically(folders.folderOf(id).file('forwards'), JSON.stringify(ownForwards));
      return { address, forwards: ownForwards };
    });
    this.#previous = assignment.catch(() => {});
    return assignment;
  }

  /** Releases a server's host ports. */
  async release(id: string): Promise<void> {
    this.#owners.delete(id);
    (await this.#forwardsByServer)?.delete(id);
  }

  async #storedForwards(folders: MachineFolders): Promise<Map<string, readonly Forward[]>> {
    this.#forwardsByServer ??= folders.machineIds().then(async (ids) => {
      const forwards = new Map<string, readonly Forward[]>();
      for (const id of ids) {
        const content = await ifMissing(readFile(folders.folderOf(id).file('forwards'), 'utf8'), '[]');
        forwards.set(id, JSON.parse(content));
      }
      return forwards;
    });
    this.#forwardsByServer.catch(() => {
      this.#forwardsByServer = undefined;
    });
    return this.#forwardsByServer;
  }

  /** Returns a forward with the server's previous host port if it is still free, otherwise with the first free port. */
  async #selectForward(
    rule: ForwardRule,
    previous: readonly Forward[],
    used: readonly Forward[],
  ): Promise<Forward | undefined> {
    const { protocol, guestPort } = rule;
    const [first, last] = rule.hostPorts;
    const ports = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const candidates = [
      ...previous.filter((forward) => matchesRule(rule, forward)),
      ...ports.map((hostPort): Forward => ({ protocol, hostPort, guestPort })),
    ];
    for (const forward of candidates) {
      if (used.some((other) => hasSameHostPort(other, forward))) continue;
      if (await isPortFree(protocol, forward.hostPort, this.#options.address)) return forward;
    }
    return undefined;
  }
}
