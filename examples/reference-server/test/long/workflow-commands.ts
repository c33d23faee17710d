import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** The file that the page names as an image. */
export const IMAGE_FILE = 'debian-13-genericcloud-amd64.qcow2';

/** Returns a block of commands from the page about a whole cloud. */
function readCommands(name: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/whole-cloud.md'), 'utf8');
  const block = new RegExp(`<!-- ${name} -->\\s*\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(page);
  return block?.[1] ?? expect.fail(`the page has no block ${name}`);
}

/** Returns the commands of the page's workflow. */
export const workflowCommands = (): string => readCommands('workflow');

/** Returns the commands that follow the workflow with virtual machines: a login at the floating IP address. */
export const loginCommands = (): string => readCommands('login');

/** Commands whose output shows which resources remain after the cloud was killed, with that output. */
export const REMAINING_OUTPUT: readonly (readonly [command: string, prints: RegExp])[] = [
  ['project show lab', /lab/],
  ['user show ada', /ada/],
  ['role assignment list --names --user ada', /member.*lab@Default/],
  ['image show debian -f value -c status', /^active/],
  ['subnet show desks', /9\.9\.9\.9/],
  ['router show edge', /10\.20\.0\.1/],
  ['security group rule list web', /22:22/],
  ['keypair show laptop', /laptop/],
  ['server show one', /ACTIVE/],
  ['volume show data -f value -c status', /^in-use/],
  ['volume snapshot list', /monday/],
  ['server list -f value -c Networks', /'10\.20\.0\.\d+', '[0-9.]+'/],
];
