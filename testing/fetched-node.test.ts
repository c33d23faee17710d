import { expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { fetchedNodeName } from '../scripts/tools.mjs';

it.each([
  ['linux', 'x64', 'Node 24'],
  ['darwin', 'arm64', 'Node 26'],
  ['sunos', 'x64', 'a newer Node'],
])('names the Node that is fetched on %s %s', (platform, arch, name) => {
  expect(fetchedNodeName({ platform, arch })).toBe(name);
});
