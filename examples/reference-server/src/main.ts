#!/usr/bin/env node
// No imports and no new syntax here: an old Node must be able to print the error below.
const NEEDED = { major: 22, minor: 16 };
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < NEEDED.major || (major === NEEDED.major && minor < NEEDED.minor)) {
  console.error(
    `Node ${process.versions.node} is too old: this program needs ${NEEDED.major}.${NEEDED.minor} or newer. Install one (nodejs.org, nvm, fnm) and start again.`,
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
