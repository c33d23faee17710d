import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { canUseVhost } from './vhost-net.js';

describe('vhost-net', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vhost-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const device = join(folder, 'vhost-net');
  writeFileSync(device, 'content');
  const base = { enabled: true, acceleration: 'kvm', runAs: undefined, device } as const;

  async function probed(more: Partial<Parameters<typeof canUseVhost>[0]> = {}) {
    const lines: string[] = [];
    const used = await canUseVhost({ ...base, ...more }, (line) => lines.push(line));
    return { used, lines };
  }

  it('is used with KVM if the device can be opened', async () => {
    expect(await probed()).toEqual({ used: true, lines: ['machine interfaces use vhost-net'] });
    expect((await probed({ device: '/dev/null' })).used).toBe(true);
  });

  it.each([
    [{ enabled: false }, 'as configured'],
    [{ acceleration: 'tcg' as const }, 'machines run without KVM'],
    [{ device: join(folder, 'missing') }, `this computer has no ${join(folder, 'missing')}`],
  ])('is not used with %j', async (more, reason) => {
    expect(await probed(more)).toEqual({
      used: false,
      lines: [`machine interfaces do not use vhost-net: ${reason}`],
    });
  });

  it.skipIf(process.getuid?.() !== 0)('is not used if the user that runs machines cannot open it', async () => {
    const runAs = { uid: 65_534, gid: 65_534 };
    chmodSync(folder, 0o755);
    for (const mode of [0o600, 0o604, 0o602]) {
      chmodSync(device, mode);
      const { used, lines } = await probed({ runAs });
      expect(used).toBe(false);
      expect(lines[0]).toMatch(/user 65534 cannot open .*vhost-net: .*Permission denied/);
    }
    chmodSync(device, 0o606);
    expect((await probed({ runAs })).used).toBe(true);
  });
});
