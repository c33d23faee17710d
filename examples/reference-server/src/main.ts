#!/usr/bin/env node
// No imports and no new syntax here: an old Node must be able to print the error below.
const REQUIRED_NODE = { major: 22, minor: 16 };
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < REQUIRED_NODE.major || (major === REQUIRED_NODE.major && minor < REQUIRED_NODE.minor)) {
  console.error(
    `Node ${process.versions.node} is too old: this program needs ${REQUIRED_NODE.major}.${REQUIRED_NODE.minor} or newer. Install a newer version (nodejs.org, nvm, fnm) and start again.`,
  );
  process.exitCode = 1;
} else {
  // Compiled code is cached for the next start. The cache must be enabled before any other module is loaded.
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
