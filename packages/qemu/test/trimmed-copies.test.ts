import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server as SocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Server } from '@apistrata/compute-engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuestFreeze } from '../src/guest/guest-freeze.js';
import { MachineFolder } from '../src/machine/machine-folder.js';

const serverWith = (imageProperties: Readonly<Record<string, string>>) =>
  ({ imageProperties, flavor: { extraSpecs: {} } }) as unknown as Server;
const server = serverWith({ hw_qemu_guest_agent: 'yes', os_require_quiesce: 'yes' });
const withoutAgent = serverWith({});
const FREEZE = ['guest-fsfreeze-status', 'guest-fsfreeze-freeze'];
const THAW = ['guest-fsfreeze-thaw'];

describe('a copy of the disk of a guest with an agent', () => {
  let path: string;
  let folder: MachineFolder;
  let agent: SocketServer;
  let requested: string[];
  /** The agent's response to a trim; undefined if it does not respond. */
  let trimResponse: object | undefined;
  const frozenGuests = new GuestFreeze();

  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'atc-'));
    folder = new MachineFolder(path, undefined);
    requested = [];
    trimResponse = { return: { paths: [] } };
    agent = createServer((socket) => {
      createInterface(socket).on('line', (line) => {
        const { execute, arguments: given } = JSON.parse(line.slice(line.indexOf('{')));
        const respond = (response: object) => socket.write(`${JSON.stringify(response)}\n`);
        if (execute === 'guest-sync-delimited') return respond({ return: given.id });
        requested.push(execute);
        if (execute !== 'guest-fstrim') return respond({ return: 'thawed' });
        if (trimResponse) respond(trimResponse);
      });
    });
    agent.listen(folder.file('agent'));
    await once(agent, 'listening');
  });
  afterEach(() => {
    agent.close();
    rmSync(path, { recursive: true, force: true });
  });

  const copy = async (signal = new AbortController().signal) => {
    await frozenGuests.trim(server, folder, signal);
    return frozenGuests.runFrozen(server, folder, 'copy', async () => 'copied');
  };

  it('starts after the guest has trimmed and then frozen its file systems', async () => {
    expect(await copy()).toBe('copied');
    expect(requested).toEqual(['guest-fstrim', ...FREEZE, ...THAW]);
  });

  it('is made even if the guest cannot trim its file systems', async () => {
    trimResponse = { error: { class: 'CommandNotFound', desc: 'disabled' } };
    expect(await copy()).toBe('copied');
    expect(requested).toEqual(['guest-fstrim', ...FREEZE, ...THAW]);
  });

  it('is made even if the trim does not end in time', async () => {
    trimResponse = undefined;
    expect(await copy(AbortSignal.timeout(100))).toBe('copied');
    expect(requested).toEqual(['guest-fstrim', ...FREEZE, ...THAW]);
  });

  it('does not trim a guest that is frozen for another copy', async () => {
    const inner = await frozenGuests.runFrozen(server, folder, 'other', () => copy());
    expect(inner).toBe('copied');
    expect(requested).not.toContain('guest-fstrim');
  });

  it('requests nothing from a guest without an agent', async () => {
    await frozenGuests.trim(withoutAgent, folder, new AbortController().signal);
    expect(requested).toEqual([]);
  });
});
