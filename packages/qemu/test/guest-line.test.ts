import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { GuestLine } from './guest/guest-line.js';

it('drops the rest of a line that began before the connection, and the numbers that the guest counts', async () => {
  const [guest, client] = duplexPair();
  const line = GuestLine.over(client);
  const output = line.run('cat /proc/version');
  guest.write('OUNT 27\nmark1 begins\none of COUNT 28\nh2mark1:0\n');
  expect(await output).toBe('one of h2');
  const failed = line.run('false');
  guest.write('COUNT 29\nmark2 begins\nmark2:1\n');
  await expect(failed).rejects.toThrow('the guest: false ended with 1: ');
  line.close();
});
