import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askAgent } from '../src/guest/guest-agent.js';

/** What stands before each greeting; agents know it as nothing that they could read. */
const DELIMITER = 0xff;

describe('an agent that is slow to answer', () => {
  let folder: string;
  let path: string;
  let agent: Server;
  const asked: string[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aga-'));
    path = join(folder, 'agent');
    asked.length = 0;
    agent = createServer((socket) => {
      let heard = '';
      let awake = false;
      let turn = Promise.resolve();
      /** Each line arrives by itself. */
      const say = (line: string) => {
        turn = turn.then(() => sleep(20)).then(() => void socket.write(Buffer.from(`${line}\n`, 'latin1')));
      };
      const answer = (line: string) => {
        // As QEMU's own agent: a complaint of each delimiter, and then what was asked for.
        if (line.charCodeAt(0) === DELIMITER) say('{"error": {"class": "GenericError", "desc": "stray"}}');
        const { execute, arguments: given } = JSON.parse(line.slice(line.indexOf('{')));
        if (execute !== 'guest-sync-delimited') asked.push(execute);
        const value = execute === 'guest-sync-delimited' ? given.id : 'done';
        say(`\xff${JSON.stringify({ return: value })}`);
      };
      socket.on('data', (bytes) => {
        heard += bytes.toString('latin1');
        const lines = heard.split('\n');
        if (!awake && lines.length < 4) return;
        awake = true;
        heard = lines.pop() ?? '';
        for (const line of lines) answer(line);
      });
    });
    agent.listen(path);
    await once(agent, 'listening');
  });
  afterEach(() => {
    agent.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is greeted until it answers, and its complaints of that are no answer to what it is asked then', async () => {
    expect(await askAgent(path, 'guest-do')).toBe('done');
    expect(asked).toEqual(['guest-do']);
  });
});
