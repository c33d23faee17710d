import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callAgent } from '../src/guest/guest-agent.js';

/** The bytes before each greeting; agents reject them as malformed input. */
const DELIMITER = 0xff;

describe('a slow guest agent', () => {
  let folder: string;
  let path: string;
  let agent: Server;
  const requested: string[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aga-'));
    path = join(folder, 'agent');
    requested.length = 0;
    agent = createServer((socket) => {
      let received = '';
      let isResponding = false;
      let turn = Promise.resolve();
      /** Sends a line. Lines arrive separately, because each is delayed. */
      const say = (line: string) => {
        turn = turn.then(() => sleep(20)).then(() => void socket.write(Buffer.from(`${line}\n`, 'latin1')));
      };
      const response = (line: string) => {
        // Like QEMU's own agent, reports an error for each delimiter before it responds.
        if (line.charCodeAt(0) === DELIMITER) say('{"error": {"class": "GenericError", "desc": "stray"}}');
        const { execute, arguments: given } = JSON.parse(line.slice(line.indexOf('{')));
        if (execute !== 'guest-sync-delimited') requested.push(execute);
        const value = execute === 'guest-sync-delimited' ? given.id : 'done';
        say(`\xff${JSON.stringify({ return: value })}`);
      };
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1');
        const lines = received.split('\n');
        if (!isResponding && lines.length < 4) return;
        isResponding = true;
        received = lines.pop() ?? '';
        for (const line of lines) response(line);
      });
    });
    agent.listen(path);
    await once(agent, 'listening');
  });
  afterEach(() => {
    agent.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('receives synchronization requests until it responds, and their errors are not mistaken for the response to the command', async () => {
    expect(await callAgent(path, 'guest-do')).toBe('done');
    expect(requested).toEqual(['guest-do']);
  });
});
