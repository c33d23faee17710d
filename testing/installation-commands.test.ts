import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const commands = /<!-- install -->\s*```sh\n([\s\S]*?)```/.exec(text('docs/whole-cloud.md'))?.[1] ?? '';

/** Functions in place of the programs that change the computer or use the network; they print their arguments. */
const STAND_INS = `
for name in apt-get tar git node cp systemctl openstack; do eval "$name() { echo $name \\"\\$*\\"; }"; done
curl() {
  echo "curl $*"
  case "$2" in
    */SHASUMS256.txt)
      for kind in linux-arm64.tar.xz linux-x64.tar.gz linux-x64.tar.xz win-x64.zip; do
        printf 'node' | sha256sum | sed "s/-$/node-v24.9.1-$kind/"
      done >SHASUMS256.txt ;;
    *) printf 'node' >"\${2##*/}" ;;
  esac
}
`;

it('the commands of the installation run in order, and verify the downloaded Node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-commands-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const printed = execFileSync('bash', ['-euo', 'pipefail', '-c', STAND_INS + commands], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(printed).toContain('node-v24.9.1-linux-x64.tar.xz: OK');
  expect(printed).toContain('tar --extract --file node-v24.9.1-linux-x64.tar.xz --directory /usr/local');
  expect(printed.match(/^openstack token issue$/gm)).toHaveLength(1);
});

it('the commands of the installation name files and paths that exist', () => {
  const [, script = '', target = ''] = /^node apistrata\/(\S+) server (\S+)$/m.exec(commands) ?? [];
  const [, unit = ''] = /^cp apistrata\/(\S+) \/etc\/systemd\/system\/$/m.exec(commands) ?? [];
  expect([script, unit].filter((file) => file === '' || !existsSync(join(root, file)))).toEqual([]);
  expect(text(unit)).toContain(`${target}/dist/main.js`);
  const [, settings = ''] = /OS_CLIENT_CONFIG_FILE=(\S+)\/clouds\.yaml/.exec(commands) ?? [];
  expect(text(unit)).toContain(`APISTRATA_DB=${settings}/compute.db`);
});
