#!/usr/bin/env node
// Nothing is imported here, and nothing new is used: an old Node has to get as far as the sentence that says so.
const NEEDED = [22, 16];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major! < NEEDED[0]! || (major === NEEDED[0] && minor! < NEEDED[1]!)) {
  console.error(
    `Node ${process.versions.node} is too old: this program needs ${NEEDED.join('.')} or newer. Install one (nodejs.org, nvm, fnm) and start again.`,
  );
  process.exitCode = 1;
} else {
  // Compiled code is cached for the next start; this must be enabled before anything else is loaded.
  const node = process.getBuiltinModule('node:module') as { enableCompileCache?(): unknown };
  node.enableCompileCache?.();
  import('./program.js')
    .then(({ main }) => main())
    .catch((error) => {
      console.error(error);
      process.exitCode = 1;
    });
}

export {};
