import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from '@apistrata/compute-engine';
import { ifMissing } from '../machine/if-missing.js';
import type { MachinePlaces } from '../network/network-mode.js';
import type { ForwardRule } from './forward-rule.js';

/** A port of this computer that leads to one of a guest. */
export interface Forward {
  readonly protocol: 'tcp' | 'udp';
  readonly hostPort: number;
  readonly guestPort: number;
}

/** Forwards of a guest, and the address of this computer that they listen on. */
export interface UserForwards {
  readonly address: string;
  readonly forwards: readonly Forward[];
}

export interface ForwardsOptions {
  readonly rules: readonly ForwardRule[];
  /** Address of this computer to listen on. */
  readonly address: string;
  readonly log: (line: string) => void;
}

/** Whether nobody listens there. Between this and the machine's own try somebody may come: then it fails and says so. */
async function isFree(protocol: 'tcp' | 'udp', port: number, address: string): Promise<boolean> {
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

/** Half a file would keep every guest from starting: there is the one before, or the new one. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

const same = (a: Forward, b: Forward) => a.protocol === b.protocol && a.hostPort === b.hostPort;

function fits({ protocol, hostPorts: [first, last], guestPort }: ForwardRule, forward: Forward): boolean {
  return (
    forward.protocol === protocol &&
    forward.guestPort === guestPort &&
    forward.hostPort >= first &&
    forward.hostPort <= last
  );
}

/**
 * Which ports of this computer lead to which guests. What a server has got is written in its folder, so it has the same ports
 * after every start, as long as the rules say so and nobody else has taken them meanwhile.
 */
export class Forwards {
  readonly #options: ForwardsOptions;
  /** What servers have; those of an earlier process as soon as they are known. */
  #held: Promise<Map<string, readonly Forward[]>> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ForwardsOptions) {
    this.#options = options;
  }

  /**
   * The forwards of a server that is about to start.
   * @param places where its port and those of others are written
   */
  for({ id, name }: Pick<Server, 'id' | 'name'>, places: MachinePlaces): Promise<UserForwards> {
    const { address, rules, log } = this.#options;
    if (rules.length === 0) return Promise.resolve({ address, forwards: [] });
    const given = this.#turn.then(async () => {
      const held = await this.#heldBy(places);
      const before = held.get(id) ?? [];
      const others = [...held].flatMap(([other, forwards]) => (other === id ? [] : forwards));
      const mine: Forward[] = [];
      for (const rule of rules.filter(({ server }) => server === null || server === name)) {
        const forward = await this.#free(rule, before, [...others, ...mine]);
        const where = `port ${rule.guestPort}/${rule.protocol} of ${name} (${id})`;
        if (forward) {
          mine.push(forward);
          log(`${address}:${forward.hostPort} leads to ${where}`);
        } else log(`no port of --forward ${rule.text} is free for ${where}`);
      }
      held.set(id, mine);
      await writeWhole(places.folderOf(id).file('forwards'), JSON.stringify(mine));
      return { address, forwards: mine };
    });
    this.#turn = given.catch(() => {});
    return given;
  }

  /** Its ports are for others from now on. */
  async release(id: string): Promise<void> {
    (await this.#held)?.delete(id);
  }

  async #heldBy(places: MachinePlaces): Promise<Map<string, readonly Forward[]>> {
    this.#held ??= places.machineIds().then(async (ids) => {
      const held = new Map<string, readonly Forward[]>();
      for (const id of ids) {
        const text = await ifMissing(readFile(places.folderOf(id).file('forwards'), 'utf8'), '[]');
        held.set(id, JSON.parse(text));
      }
      return held;
    });
    this.#held.catch(() => {
      this.#held = undefined;
    });
    return this.#held;
  }

  /** The port of before where it can be, else the first one that nobody has. */
  async #free(rule: ForwardRule, before: readonly Forward[], taken: readonly Forward[]): Promise<Forward | undefined> {
    const { protocol, guestPort } = rule;
    const [first, last] = rule.hostPorts;
    const ports = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const candidates = [
      ...before.filter((forward) => fits(rule, forward)),
      ...ports.map((hostPort): Forward => ({ protocol, hostPort, guestPort })),
    ];
    for (const forward of candidates) {
      if (taken.some((other) => same(other, forward))) continue;
      if (await isFree(protocol, forward.hostPort, this.#options.address)) return forward;
    }
    return undefined;
  }
}
