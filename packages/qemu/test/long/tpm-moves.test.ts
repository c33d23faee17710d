import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { findInstalledProgram } from '../../src/programs/find-program.js';
import { missingForGuests } from '../guest/build-guest.js';
import { TPM_DEFINED, TPM_WORD, tpmCommand } from '../guest/tpm-commands.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing =
  missingForGuests() ?? (findInstalledProgram('swtpm') ? (postgresUrl ? undefined : 'PostgreSQL') : 'swtpm');
if (missing) console.warn(`\n*** SKIPPED: moves of machines with a TPM: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('moves of machines with a TPM', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let id: string;

  beforeAll(async () => {
    const tpm = { extraSpecs: { 'hw:tpm_version': '2.0' } };
    const flavors = [{ id: 'small', name: 'small', vcpus: 1, memoryMb: 160, diskGb: 1, ...tpm }];
    hosts = await QemuHosts.withoutHosts(postgresUrl, { flavors });
    await Promise.all(['h1', 'h2'].map((name) => hosts.start(name)));
    id = (await hosts.booted('h1')).id;
    const line = await hosts.line(id);
    expect(await line.run(tpmCommand('define'))).toBe(TPM_DEFINED);
    await line.run(tpmCommand('write'));
  }, 240_000);
  afterAll(() => hosts?.close(), 60_000);

  async function stateFilesOn(here: string, there: string) {
    await eventually(() => expect(existsSync(hosts.folder(there, id))).toBe(false), BOOT);
    expect(processesOf(hosts.folder(here, id), 'swtpm')).toHaveLength(1);
    expect(processesOf(hosts.folder(there, id), 'swtpm')).toEqual([]);
    expect(await (await hosts.line(id)).run(tpmCommand('read'))).toContain(TPM_WORD);
  }

  it('keep its state while the guest runs', async () => {
    await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host: 'h2', checkedFirst: true });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h2' });
    await stateFilesOn('h2', 'h1');
  });

  it('keep its state while the guest is off', async () => {
    await hosts.engine.servers.act(admin, id, 'migrate', {});
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'resized', host: 'h1' });
    await hosts.engine.servers.act(admin, id, 'confirmResize');
    await hosts.settled(id);
    await eventually(async () => {
      expect((await hosts.console(await hosts.see(id))).match(/GUEST ready/g)).toHaveLength(2);
    }, BOOT);
    await stateFilesOn('h1', 'h2');
  });
});
