// `npm run images`: draws the images in READMEs: docs/images/quick-start.svg, from a run of the server, and the badges.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { manifestOf, SMALL_PACKAGES } from './manifests.mjs';
import { ROOT } from './start-keys.mjs';

const IMAGES = join(ROOT, 'docs', 'images');
const DISPLAYED_ADDRESS = 'http://127.0.0.1:8774';
const IMAGE_ID = '70a599e0-31e7-49b7-b260-868f441e862b';
const HEADERS = { 'X-Auth-Token': 'ada:demo', 'Content-Type': 'application/json' };

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Runs the reference server, and creates, shows and stops a compute server. Returns terminal lines with commands and
 * output.
 */
async function recordTerminal() {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-images-'));
  const installer = join(ROOT, 'scripts', 'install-program.mjs');
  execFileSync(process.execPath, [installer, 'server', join(folder, 'server')], { stdio: 'pipe' });
  const options = ['--port', '0', '--db', ':memory:', '--drain-ms', '0', '--log-level', 'silent'];
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(folder, 'server/dist/main.js'), ...options], {
    cwd: folder,
    stdio: 'pipe',
  });
  const exitPromise = new Promise((resolve) => child.once('close', resolve));
  try {
    let output = '';
    for await (const text of child.stdout) {
      output += text;
      if (/Compute API http\S+\/v2\.1/.test(output)) break;
    }
    const [, url] = /Compute API (http\S+)\/v2\.1/.exec(output) ?? [];
    if (!url) throw new Error(`the server ended: ${output}`);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const sendRequest = async (path, version, body) => {
      const headers = { ...HEADERS, ...(version && { 'OpenStack-API-Version': `compute ${version}` }) };
      const method = body ? 'POST' : 'GET';
      const response = await fetch(`${url}/v2.1${path}`, { method, headers, body: body && JSON.stringify(body) });
      const text = await response.text();
      return { status: response.status, body: text ? JSON.parse(text) : undefined };
    };
    const showServer = async (id, version) => (await sendRequest(`/servers/${id}`, version)).body.server;
    const waitForStatus = async (id, status) => {
      while ((await showServer(id)).status !== status) await new Promise((resolve) => setTimeout(resolve, 20));
      return showServer(id);
    };
    const server = { name: 'web', flavorRef: '1', imageRef: IMAGE_ID, networks: 'none' };
    const createResponse = await sendRequest('/servers', '2.37', { server });
    const { id } = createResponse.body.server;
    const activeServer = await waitForStatus(id, 'ACTIVE');
    const serverAtNewestVersion = await showServer(id, '2.100');
    const stopResponse = await sendRequest(`/servers/${id}/action`, undefined, { 'os-stop': null });
    const stoppedServer = await waitForStatus(id, 'SHUTOFF');
    const fields = (one) =>
      `"status": "${one.status}", ${Object.keys(one).length} fields, flavor: ${Object.keys(one.flavor).join(', ')}`;
    return [
      ['$', 'npx @apistrata/server'],
      ['>', `Compute API ${DISPLAYED_ADDRESS}/v2.1   (${seconds} s after the installation)`],
      ['request', 'POST /servers                 {"server": {"name": "web", ...}}'],
      ['>', `${createResponse.status}  "id": "${id}"`],
      ['request', 'GET  /servers/ID              at microversion 2.1'],
      ['>', `200  ${fields(activeServer)}`],
      ['request', 'GET  /servers/ID              at microversion 2.100'],
      ['>', `200  ${fields(serverAtNewestVersion)}`.slice(0, 96)],
      ['request', 'POST /servers/ID/action       {"os-stop": null}'],
      ['>', `${stopResponse.status}`],
      ['request', 'GET  /servers/ID'],
      ['>', `200  "status": "${stoppedServer.status}"`],
    ];
  } finally {
    child.kill('SIGTERM');
    await exitPromise;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The style sheet, with colors for light and dark pages. */
const STYLE = `<style>
.back { fill: #f6f8fa; stroke: #d0d7de; } .typed { fill: #0550ae; } .result { fill: #1f2328; }
@media (prefers-color-scheme: dark) { .back { fill: #161b22; stroke: #30363d; } .typed { fill: #79c0ff; } .result { fill: #e6edf3; } }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; }
</style>`;

function terminal(lines) {
  const height = lines.length * 20 + 28;
  const rows = lines.map(([mark, text], index) => {
    const typed = mark !== '>';
    return `<text class="${typed ? 'typed' : 'result'}" x="16" y="${30 + index * 20}">${escaped(mark === '$' ? `$ ${text}` : `  ${text}`)}</text>`;
  });
  const label = 'A server is created, shown at two microversions, and stopped';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="820" height="${height}" viewBox="0 0 820 ${height}" role="img" aria-label="${label}">
<title>${label}</title>
${STYLE}
<rect class="back" x="0.5" y="0.5" width="819" height="${height - 1}" rx="8"/>
${rows.join('\n')}
</svg>
`;
}

const CHARACTER_WIDTH = 6.6;

function badge(name, value) {
  const [left, right] = [name, value].map((text) => Math.round(text.length * CHARACTER_WIDTH + 14));
  const width = left + right;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${escaped(`${name}: ${value}`)}">
<rect width="${width}" height="20" rx="3" fill="#0969da"/><rect width="${left}" height="20" rx="3" fill="#57606a"/>
<g fill="#fff" font-family="Verdana, sans-serif" font-size="11"><text x="7" y="14" textLength="${left - 14}">${escaped(name)}</text><text x="${left + 7}" y="14" textLength="${right - 14}">${escaped(value)}</text></g>
</svg>
`;
}

/** Returns the badges, by file name. Values are from the manifests and from the table of package sizes. */
export function badges() {
  const dependenciesPage = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8');
  const sizeOf = (name) => new RegExp(`\`@apistrata/${name}\` \\| ([\\d.]+ kB)`).exec(dependenciesPage)[1];
  const { license, engines } = manifestOf();
  return {
    license: badge('license', license),
    node: badge('node', engines.node.replace('>=', '>= ')),
    types: badge('types', 'included'),
    size: badge('one middleware, gzipped', `from ${sizeOf('request-id')}`),
    ...Object.fromEntries(
      SMALL_PACKAGES.map((folder) => basename(folder)).map((name) => [
        `size-${name}`,
        badge('gzipped', `at most ${sizeOf(name)}`),
      ]),
    ),
  };
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(IMAGES, { recursive: true });
  for (const [name, text] of Object.entries(badges())) writeFileSync(join(IMAGES, `badge-${name}.svg`), text);
  writeFileSync(join(IMAGES, 'quick-start.svg'), terminal(await recordTerminal()));
}
