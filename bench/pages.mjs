// The cost of the explorer's pages: bytes, CPU time and layout shifts of the first page in a browser, and CPU time of
// the server for the list of versions, which is sent before changes are counted.
import { execFileSync } from 'node:child_process';
import { startCloud } from '@apistrata/test-cloud';
import { chromium } from 'playwright-core';

const ROUNDS = 5;
const QUICK_ROUNDS = 1;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];

const OBSERVE_SHIFTS = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) shift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

function browserProgram() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // No browser with this name is installed, so the next name is tried.
    }
  }
}

/** Loads a page in a new context, with an empty cache. Returns bytes, milliseconds of CPU of the main thread, and layout shifts. */
async function load(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.addInitScript(OBSERVE_SHIFTS);
  await page.goto(url, { waitUntil: 'networkidle' });
  const { metrics } = await session.send('Performance.getMetrics');
  const cpuMs = 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
  const shift = await page.evaluate('shift');
  await context.close();
  return { bytes, cpuMs, shift };
}

/** Returns the CPU time in milliseconds that this process, which serves the pages, needs for the first response. */
async function serverMs(path) {
  const cloud = await startCloud();
  const before = process.cpuUsage();
  await (await fetch(`${cloud.url}${path}`)).text();
  const { user, system } = process.cpuUsage(before);
  await cloud.stop();
  return (user + system) / 1000;
}

export async function run({ quick }) {
  const executablePath = browserProgram();
  if (!executablePath) return [{ what: 'pages: this machine has no Chromium' }];
  const rounds = quick ? QUICK_ROUNDS : ROUNDS;
  const cloud = await startCloud();
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const loaded = [];
  try {
    await load(browser, `${cloud.url}/docs/`);
    for (let round = 0; round < rounds; round++) loaded.push(await load(browser, `${cloud.url}/docs/`));
  } finally {
    await browser.close();
    await cloud.stop();
  }
  // Each request is measured only once, because the process caches the descriptions of operations at a version.
  const versions = await serverMs('/docs/versions');
  const counted = await serverMs('/docs/versions?counts');
  const of = (name, unit) => loaded.map((each) => each[name] / unit);
  return [
    { what: 'first page of the explorer, with its files', ours: of('bytes', 1000), unit: 'kB', budget: '<= 80 kB' },
    { what: 'first page, main thread', ours: of('cpuMs', 1), unit: 'ms of CPU', budget: '<= 200 ms' },
    { what: 'first page, layout shifts', ours: of('shift', 1), unit: 'score', budget: '<= 0' },
    {
      what: 'server: first list of versions, without and with counts',
      ours: versions,
      baseline: counted,
      unit: 'ms of CPU',
    },
  ];
}
