import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '..');
const CHECK = join(REPOSITORY, 'scripts/prose/check.mjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'vocabulary-'));
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  copyFileSync(join(REPOSITORY, 'cspell.config.yaml'), join(root, 'cspell.config.yaml'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Checks a repository with these files. Returns the exit code and the lines of the output. */
function check(files: Readonly<Record<string, string>>) {
  for (const [file, text] of Object.entries({ 'scripts/prose/words.txt': '', ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [CHECK], { cwd: root, encoding: 'utf8' });
  return { status, lines: `${stderr}${stdout}`.trim().split(/\s*\n\s*/) };
}

it('accepts English, technical terms, code and the words of the project', () => {
  const result = check({
    'scripts/prose/words.txt': '# Services.\nglorptrix\n',
    'docs/page.md':
      "The middleware of `glorbtext` and vm_flumox is idempotent; Glorptrix's URLs are at https://frobnique.test/.\n",
    'src/page.ts':
      "/** Returns the hypervisors. */\nexport const readURLs = () => 'isn\\'t a hypervisor\\nof `blorpf_7`';\n",
  });
  expect(result).toEqual({ status: 0, lines: ['3 files'] });
});

it('rejects unknown words in documents, docstrings, strings, and names of exports, their members and files', () => {
  const { status, lines } = check({
    'docs/page.md': '# Page\n\nA flumoxed client.\n',
    'src/page.ts': [
      '/**',
      ' * Returns the snorkeldesk of a host.',
      ' */',
      'export function findGuestBlurfnades() {',
      "  throw new Error('The quobblenade is missing.');",
      '}',
      'export interface Page { readonly zwischenLength: number }',
    ].join('\n'),
    'src/glimworp.ts': '',
  });
  expect(status).toBe(1);
  expect(lines.slice(0, 7)).toEqual([
    'docs/page.md:3 "flumoxed" is unknown; did you mean "flummoxed"?',
    'src/glimworp.ts:1 "glimworp" is unknown',
    'src/page.ts:2 "snorkeldesk" is unknown',
    'src/page.ts:4 "blurfnades" is unknown',
    'src/page.ts:5 "quobblenade" is unknown',
    'src/page.ts:7 "zwischen" is unknown',
    '6 unknown words. Use a word of docs/style.md or of English, or add the word to scripts/prose/words.txt with its reason.',
  ]);
});

it('checks titles and comments of tests, but not their data', () => {
  const test = "it('has blorpfnades', () => expect('a glimworp b')); // quobblenade\n";
  expect(check({ 'src/page.test.ts': test }).lines.slice(0, 2)).toEqual([
    'src/page.test.ts:1 "blorpfnades" is unknown',
    'src/page.test.ts:1 "quobblenade" is unknown',
  ]);
});

it('checks the files of all languages, but not the data of their tests', () => {
  const { status, lines } = check({
    'cloud.go': '// Start starts a glimworp.\nfunc StartBlorpfnade() {}\n',
    'cloud_test.go': 'var data = "a snorkeldesk b"\n',
    'cloud.py': 'def quobblenade_of(name):\n    """Returns a flumox."""\n',
    'test_cloud.py': 'DATA = "a snorkeldesk b"\n',
    'run.sh': "echo 'the zwischenlength'\n",
    'pnpm-lock.yaml': '# snorkeldesk\n',
  });
  expect(status).toBe(1);
  expect(lines.slice(0, -2)).toEqual([
    'cloud.go:1 "glimworp" is unknown',
    'cloud.go:2 "blorpfnade" is unknown',
    'cloud.py:1 "quobblenade" is unknown',
    'cloud.py:2 "flumox" is unknown; did you mean "flummox"?',
    'run.sh:1 "zwischenlength" is unknown',
  ]);
});

it('rejects words of the project that are not used, that cspell knows, or that have no reason', () => {
  const { status, lines } = check({
    'scripts/prose/words.txt': 'blorpf\n\n# Services.\nglimworp\nserver\n',
    'docs/page.md': 'A blorpf of a server.\n',
  });
  expect(status).toBe(1);
  expect(lines.slice(0, -1)).toEqual([
    'scripts/prose/words.txt:1 "blorpf" has no reason: begin its group with a comment',
    'scripts/prose/words.txt:4 "glimworp" is not used: remove it',
    'scripts/prose/words.txt:5 "server" is in a dictionary of cspell: remove it',
  ]);
});
